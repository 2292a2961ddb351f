import ChatDomain
import ChatPrimitives
import ChatProjections
import ChatService
import EventStore
import Synchronization
import Testing

@Suite("A stream over a service")
struct LiveStreamTests {
  /// What a transport sent.
  private final class Sent: Sendable {
    let pages = Mutex<[SyncPage]>([])

    var messages: [MessageID] {
      pages.withLock { $0 }.flatMap(\.items).compactMap { item in
        if case .message(let message) = item.content { message.row.id } else { nil }
      }
    }
  }

  private func room(_ fixture: ServiceFixture, _ owner: UserID) async throws -> RoomID {
    let creation = RoomCreation(kind: .group, name: "tea", creator: owner)
    _ = try await fixture.chat.performRoom(fixed(40), .lifecycle(.create(creation)), by: Principal(user: owner))
    return fixed(40)
  }

  private func stream(
    _ fixture: ServiceFixture, _ user: UserID, limit: Int = 3
  ) throws -> (LiveStream, LiveSubscription) {
    let subscription = try fixture.chat.live.subscribe(LivePermission(user: user))
    let request = SyncRequest(after: SyncPosition(.origin), limit: limit)
    return (LiveStream(fixture.chat, for: user, request, subscription), subscription)
  }

  @Test("it sends what was there and then what comes, in order and once, until it ends")
  func follows() async throws {
    let fixture = try await ServiceFixture()
    let alice = try await fixture.user(1)
    let room = try await room(fixture, alice)
    for number in 50..<60 { _ = try await fixture.send("before", UInt64(number), to: room, by: alice) }
    let (stream, subscription) = try stream(fixture, alice)
    let sent = Sent()
    let running = Task { try await stream.run { page in sent.pages.withLock { $0.append(page) } } }
    for number in 60..<80 { _ = try await fixture.send("meanwhile", UInt64(number), to: room, by: alice) }
    let expected = (50..<80).map { fixed($0) as MessageID }
    while sent.messages.count < expected.count { try await Task.sleep(for: .milliseconds(5)) }
    #expect(sent.messages == expected)
    fixture.chat.live.endStreams()
    #expect(try await running.value == subscription.ending)
    let positions = sent.pages.withLock { $0.map(\.next.position) }
    #expect(positions == positions.sorted() && sent.pages.withLock { $0.allSatisfy { !$0.items.isEmpty } })
    try fixture.close()
  }

  @Test("a client that does not take a page does not delay the end of its stream")
  func blockedSender() async throws {
    let fixture = try await ServiceFixture()
    let alice = try await fixture.user(1)
    let (stream, _) = try stream(fixture, alice)
    let (blocked, post) = AsyncStream<Void>.makeStream()
    let running = Task {
      try await stream.run { _ in
        post.yield()
        try await Task.sleep(for: .seconds(3_600))
      }
    }
    for await _ in blocked.prefix(1) {}
    _ = try await fixture.chat.disable(alice, by: Principal(service: ServiceFixture.service), command: nil)
    #expect(try await running.value == .accountDisabled)
    try fixture.close()
  }

  @Test("it ends as too slow when the transport says so, and throws when the client has disconnected")
  func transportFailures() async throws {
    struct Disconnected: Error {}
    let fixture = try await ServiceFixture()
    let alice = try await fixture.user(1)
    let (slow, first) = try stream(fixture, alice)
    #expect(try await slow.run { _ in throw SlowReader() } == .tooSlow)
    let (lost, second) = try stream(fixture, alice)
    await #expect(throws: Disconnected.self) { try await lost.run { _ in throw Disconnected() } }
    let (idle, third) = try stream(fixture, alice, limit: 100)
    let running = Task { try await idle.run { _ in } }
    running.cancel()
    await #expect(throws: CancellationError.self) { try await running.value }
    for subscription in [first, second, third] { subscription.cancel() }
    #expect(fixture.chat.live.streamCount == 0)
    try fixture.close()
  }
}
