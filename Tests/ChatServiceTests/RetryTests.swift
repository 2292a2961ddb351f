import ChatDomain
import ChatPrimitives
import ChatProjections
import ChatService
import EventStore
import Testing

@Suite("Retries")
struct RetryTests {
  @Test("a retry with a key gets the first response, even after newer commands; other content is refused")
  func keys() async throws {
    var fixture = try await ServiceFixture(keepsDirectory: true)
    var chat = fixture.chat
    let alice = try await fixture.user(1)
    let by = Principal(user: alice)
    let (room, other): (RoomID, RoomID) = (fixed(10), fixed(11))
    for id in [room, other] {
      _ = try await chat.performRoom(
        id, .lifecycle(.create(RoomCreation(kind: .group, name: "tea", creator: alice))), by: by)
    }
    let first = try await chat.performRoom(
      room, .lifecycle(.edit(RoomEdit(name: "green tea"))), by: by, command: fixed(20))
    _ = try await chat.performRoom(room, .lifecycle(.edit(RoomEdit(name: "black tea"))), by: by, command: fixed(21))
    // The first retry uses the writer's memory. The second comes after a restart, when only the index knows.
    for isRestarted in [false, true] {
      if isRestarted {
        try fixture.close()
        fixture = try await ServiceFixture(directory: fixture.directory)
        chat = fixture.chat
      }
      let again = try await chat.performRoom(
        room, .lifecycle(.edit(RoomEdit(name: "green tea"))), by: by, command: fixed(20))
      #expect(!again.isNew)
      #expect(again.stamp == first.stamp)
      #expect(try await chat.room(room, for: alice).0.room.name == "black tea")
      #expect(
        await rejection {
          _ = try await chat.performRoom(room, .lifecycle(.edit(RoomEdit(name: "mate"))), by: by, command: fixed(20))
        } == .idempotencyKeyReused)
      #expect(
        await rejection {
          _ = try await chat.performRoom(
            other, .lifecycle(.edit(RoomEdit(name: "green tea"))), by: by, command: fixed(20))
        } == .idempotencyKeyReused)
    }
    try fixture.close()
  }

  @Test("the same new message from many at once is recorded once")
  func sameMessageAtOnce() async throws {
    let fixture = try await ServiceFixture()
    let chat = fixture.chat
    let alice = try await fixture.user(1)
    let room: RoomID = fixed(10)
    _ = try await chat.performRoom(
      room, .lifecycle(.create(RoomCreation(kind: .group, name: "tea", creator: alice))), by: Principal(user: alice))
    let before = chat.store.head
    let outcomes = try await withThrowingTaskGroup(of: ChatOutcome.self) { group in
      for _ in 0..<100 { group.addTask { try await fixture.send("hello", 50, to: room, by: alice) } }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(outcomes.filter(\.isNew).count == 1)
    #expect(Set(outcomes.map(\.stamp)).count == 1)
    #expect(chat.store.head == before.next)
    #expect(await rejection { _ = try await fixture.send("other", 50, to: room, by: alice) } == .idInUse)
    try fixture.close()
  }

  @Test("a lookup from before the writer's memory is not trusted")
  func outdated() {
    var state = DecisionState(knownIDs: KnownIDs(KnownIDFilter(), newest: .origin), floor: LogPosition(100))
    let command = ChatCommand(
      context: CommandContext(time: Timestamp(milliseconds: 0)), operation: .room(fixed(1), .members(.leave)),
      knownAsOf: LogPosition(99))
    let reply = state.decide(command, next: LogPosition(101), now: Timestamp(milliseconds: 0)).reply
    guard case .outdated = reply else {
      Issue.record("\(reply)")
      return
    }
  }
}
