import ChatDomain
import ChatPrimitives
import Testing

@testable import ChatProjections
@testable import ChatService

@Suite("The keys of a catch-up")
struct SyncEntitySpecs {
  private static let entities: [SyncEntity] = [
    .account, .preferences, .device(fixed(1)), .session(fixed(2)), .blockedUser(fixed(3)), .workspace(fixed(4)),
    .workspaceMember(fixed(5), of: fixed(6)), .invitation(fixed(7)), .scheduledMessage(fixed(8), in: fixed(9)),
    .lostRoom(fixed(10)), .room(fixed(11)), .channel(fixed(12), of: fixed(13)), .member(fixed(14), of: fixed(15)),
    .readMarker(fixed(16), in: fixed(17)), .user(fixed(18)), .thread(19, in: fixed(20)),
    .message(MessageLocation(thread: 21, ordinal: 1 << 40), in: fixed(22)), .gap(fixed(23)),
  ]

  @Test("a key leads back to its entity, and no other key does", arguments: entities)
  func roundTrip(entity: SyncEntity) {
    #expect(SyncEntity(key: entity.key) == entity)
    #expect(entity.key.count <= 33)
    #expect(SyncEntity(key: entity.key + [0]) == nil)
    #expect(SyncEntity(key: entity.key.dropLast()) == nil)
  }

  @Test("keys are in the order of kinds, and within one container in the order of IDs")
  func order() {
    #expect(Self.entities.count == SyncEntity.Kind.allCases.count)
    let keys = Self.entities.map(\.key)
    #expect(keys.map { $0[0] } == SyncEntity.Kind.allCases.map(\.rawValue))
    let locations = [(0, 1), (0, 255), (0, 256), (1, 1), (300, 2)].map { MessageLocation(thread: $0, ordinal: $1) }
    let inOrder = locations.map { SyncPoint(LogPosition(1), key: SyncEntity.message($0, in: fixed(1)).key) }
    #expect(inOrder.shuffled().sorted() == inOrder)
  }

  @Test("noted changes of one position are in the order of their keys")
  func changes() {
    func isSorted(_ entities: [SyncEntity?]) -> Bool {
      let points = entities.compactMap { $0.map { SyncPoint(LogPosition(1), key: $0.key) } }
      return points == points.sorted()
    }
    let noted = ChangeType.allCases.sorted { $0.rawValue < $1.rawValue }
      .map { ChangedEntity(type: $0, id: UUIDBytes(high: 1, low: 1)) }
    #expect(isSorted(noted.map { SyncEntity($0) }))
    #expect(isSorted(noted.map { SyncEntity($0, in: fixed(1) as RoomID) }))
    #expect(isSorted(noted.map { SyncEntity($0, in: fixed(1) as WorkspaceID) }))
    #expect(noted.count { SyncEntity($0) == nil } == 4)
  }

  @Test("what cannot be a key is refused", arguments: [[], [0], [19], [255], [1, 0], [3, 1]] as [[UInt8]])
  func refused(key: [UInt8]) {
    #expect(SyncEntity(key: key) == nil)
  }
}
