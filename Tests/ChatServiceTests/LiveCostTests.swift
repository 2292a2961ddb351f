import ChatDomain
import ChatPrimitives
import ChatProjections
import EventStore
import Testing

@testable import ChatService

@Suite("The cost of finding those whom a message concerns")
struct LiveCostTests {
  private static let members: UInt64 = 10_000

  private func sent(to room: RoomID, by author: UserID) -> RecordedEvent {
    RecordedEvent(
      stamp: Stamp(position: LogPosition(9), time: Timestamp(milliseconds: 0)), version: StreamVersion(1),
      actor: author, service: nil, device: nil, command: nil, originalTime: nil,
      event: .room(room, .messages(.sent(fixed(50), author: author, thread: nil, .plain("hello")))))
  }

  /// A type that counts how often it is hashed or compared, so a look at each member shows.
  private struct Counted: Hashable, Sendable {
    nonisolated(unsafe) static var looks = 0
    let number: UInt64

    static func == (one: Counted, other: Counted) -> Bool {
      looks += 1
      return one.number == other.number
    }

    func hash(into hasher: inout Hasher) {
      Self.looks += 1
      hasher.combine(number)
    }
  }

  @Test("the members of a room are found in an index, however many rooms and users there are")
  func lookups() {
    func looks(rooms: UInt64) -> Int {
      var audience = LiveAudience<Counted>()
      let user: UserID = fixed(1)
      for number in 0..<rooms { audience.insert(user, Counted(number: number)) }
      for number in 2...Self.members { audience.insert(fixed(number), Counted(number: 0)) }
      Counted.looks = 0
      #expect(audience[Counted(number: 0)].count == Int(Self.members))
      #expect(audience[Counted(number: rooms - 1)] == (rooms > 1 ? [user] : audience[Counted(number: 0)]))
      return Counted.looks
    }
    // One for each hash, and a few for collisions.
    #expect(looks(rooms: Self.members) <= 64)
  }

  @Test("a message wakes the members of its room and nobody else, in a room of 10,000 and next to it")
  func wakes() {
    let (large, small): (RoomID, RoomID) = (fixed(40), fixed(41))
    var index = LiveIndex()
    let users = (1...Self.members).map { fixed($0) as UserID }
    for user in users { index.set(UserSpaces(rooms: user == users[0] ? [large, small] : [large]), of: user) }
    let audiences: [(RoomID, Set<UserID>)] = [(large, Set(users)), (small, [users[0]])]
    for (room, audience) in audiences {
      var wakes = LiveWakes()
      index.collect(sent(to: room, by: users[0]), into: &wakes)
      #expect(wakes.users == audience)
      // One message for all of them.
      #expect(wakes.messages.count == 1 && wakes.readers.isEmpty)
    }
  }
}
