import ChatDomain
import ChatPrimitives
import ChatProjections
import ChatService
import Testing

/// The model test has only a few rooms. A catch-up of more than `Limits.syncGroupRooms` takes them in groups.
@Suite("A catch-up of many rooms")
struct SyncGroupTests {
  private static let rooms = 2 * Limits.syncGroupRooms + 44

  /// What a client has of rooms and messages.
  private struct Mirror {
    var rooms: Set<RoomID> = []
    var messages: [RoomID: Set<MessageID>] = [:]

    mutating func apply(_ item: SyncItem) {
      switch item.content {
      case .room(let row): rooms.insert(row.room.id)
      case .message(let message): messages[message.row.room, default: []].insert(message.row.id)
      case .removed(.lostRoom(let room)): (_, messages[room]) = (rooms.remove(room), nil)
      default: break
      }
    }
  }

  @Test("nothing is missing or repeated, even if a room of an earlier group disappears between two pages")
  func groups() async throws {
    let fixture = try await ServiceFixture()
    let alice = try await fixture.user(1)
    let asAlice = Principal(user: alice)
    func perform(_ room: RoomID, _ command: RoomCommand) async throws {
      _ = try await fixture.chat.performRoom(room, command, by: asAlice)
    }
    let ids = (0..<UInt64(Self.rooms)).map { fixed(1_000 + $0) as RoomID }
    for (index, room) in ids.enumerated() {
      let creation = RoomCreation(kind: .group, name: "room \(index)", creator: alice)
      try await perform(room, .lifecycle(.create(creation)))
      _ = try await fixture.send("hello", 10_000 + UInt64(index), to: room, by: alice)
    }
    var (mirror, position) = (Mirror(), SyncPosition(.origin))
    var (pages, groups, delivered) = (0, [SyncGroup](), Set<Delivered>())
    var (last, more) = (LogPosition.origin, true)
    while more {
      let page = try await fixture.chat.changes(for: alice, SyncRequest(after: position, limit: 100))
      if case .catchingUp(let progress) = position.stage, groups.last != progress.group {
        groups.append(progress.group)
        last = .origin
      }
      for item in page.items {
        #expect(item.revision >= last)
        last = item.revision
        mirror.apply(item)
        if let entity = Delivered(item) { #expect(delivered.insert(entity).inserted) }
      }
      pages += 1
      // The first two are in the first group, the others in the second and third.
      if pages == 2 {
        for room in ids.prefix(2) { try await perform(room, .lifecycle(.delete)) }
        _ = try await fixture.send("again", 20_000, to: ids[Limits.syncGroupRooms + 1], by: alice)
        _ = try await fixture.send("again", 20_001, to: ids[Self.rooms - 1], by: alice)
      }
      (position, more) = (page.next, page.more)
    }
    #expect(groups.map(\.previous) == [nil, ids[Limits.syncGroupRooms - 1], ids[2 * Limits.syncGroupRooms - 1]])
    #expect(mirror.rooms == Set(ids.dropFirst(2)))
    var expected: [RoomID: Set<MessageID>] = [:]
    for (index, room) in ids.enumerated().dropFirst(2) { expected[room] = [fixed(10_000 + UInt64(index))] }
    expected[ids[Limits.syncGroupRooms + 1]]?.insert(fixed(20_000))
    expected[ids[Self.rooms - 1]]?.insert(fixed(20_001))
    #expect(mirror.messages == expected)
    try fixture.close()
  }

  /// A room, a message or the account at a revision.
  private struct Delivered: Hashable {
    let id: UUIDBytes
    let revision: LogPosition

    init?(_ item: SyncItem) {
      revision = item.revision
      switch item.content {
      case .room(let row): id = row.room.id.uuid
      case .message(let message): id = message.row.id.uuid
      case .account(let row, _): id = row.id.uuid
      default: return nil
      }
    }
  }
}
