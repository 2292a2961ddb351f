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

    func all(of stream: LiveStream) async throws -> StreamEnding {
      var stream = stream
      while true {
        switch try await stream.next() {
        case .page(let page): pages.withLock { $0.append(page) }
        case .ended(let ending): return ending
        case .typing, .presence, .expiring, .heartbeat: break
        }
      }
    }

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
  ) throws -> LiveStream {
    let subscription = try fixture.chat.live.subscribe(LivePermission(user: user))
    return LiveStream(
      fixture.chat, for: user, SyncRequest(after: SyncPosition(.origin), limit: limit), subscription)
  }

  @Test("it sends what was there and then what comes, in order and once, until it ends")
  func follows() async throws {
    let fixture = try await ServiceFixture()
    let alice = try await fixture.user(1)
    let room = try await room(fixture, alice)
    for number in 50..<60 { _ = try await fixture.send("before", UInt64(number), to: room, by: alice) }
    let stream = try stream(fixture, alice)
    let sent = Sent()
    let running = Task { try await sent.all(of: stream) }
    for number in 60..<80 { _ = try await fixture.send("meanwhile", UInt64(number), to: room, by: alice) }
    let expected = (50..<80).map { fixed($0) as MessageID }
    while sent.messages.count < expected.count { try await Task.sleep(for: .milliseconds(5)) }
    #expect(sent.messages == expected)
    fixture.chat.live.endStreams()
    #expect(try await running.value == stream.subscription.ending)
    let positions = sent.pages.withLock { $0.map(\.next.position) }
    #expect(positions == positions.sorted() && sent.pages.withLock { $0.allSatisfy { !$0.items.isEmpty } })
    try fixture.close()
  }

  @Test("a stream that is not sent ends, says so once a page was sent, and can say it again")
  func endsBehindAPage() async throws {
    let fixture = try await ServiceFixture()
    let alice = try await fixture.user(1)
    var stream = try stream(fixture, alice)
    guard case .page = try await stream.next() else { return #expect(Bool(false), "the account is new") }
    let ended = Mutex(false)
    stream.subscription.whenEnded { ended.withLock { $0 = true } }
    _ = try await fixture.chat.disable(alice, by: Principal(service: ServiceFixture.service), command: nil)
    while !ended.withLock({ $0 }) { try await Task.sleep(for: .milliseconds(5)) }
    for _ in 0..<2 {
      guard case .ended(.accountDisabled) = try await stream.next() else {
        return #expect(Bool(false), "the account is disabled")
      }
    }
    try fixture.close()
  }

  @Test("an idle stream ends its wait when its client has disconnected, and counts no more")
  func cancelled() async throws {
    let fixture = try await ServiceFixture()
    let alice = try await fixture.user(1)
    let idle = try stream(fixture, alice, limit: 100)
    let running = Task { try await Sent().all(of: idle) }
    running.cancel()
    await #expect(throws: CancellationError.self) { try await running.value }
    idle.subscription.cancel()
    #expect(fixture.chat.live.streamCount == 0)
    try fixture.close()
  }
}
