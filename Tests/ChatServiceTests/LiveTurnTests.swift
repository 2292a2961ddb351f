import ChatDomain
import ChatPrimitives
import ChatProjections
import Synchronization
import Testing

@testable import ChatService

@Suite("A stream that waits for its turn to read", .timeLimit(.minutes(5)))
struct LiveTurnTests {
  /// A service whose slots for reads are taken, and a stream that wants one.
  private final class Fixture: Sendable {
    let service: ServiceFixture
    let stream: LiveStream
    /// How often the stream was told to go on.
    let calls = Mutex(0)
    private let held: Mutex<[AsyncSemaphore<UserID>.Slot]>

    var reads: AsyncSemaphore<UserID> { service.chat.syncReads }

    init() async throws {
      service = try await ServiceFixture()
      let alice = try await service.user(1)
      let chat = service.chat
      held = Mutex(try (0..<UInt64(Limits.syncReads)).map { try #require(chat.syncReads.takeIfFree(for: fixed(900 + $0))) })
      let subscription = try chat.live.subscribe(LivePermission(user: alice))
      stream = LiveStream(chat, for: alice, SyncRequest(after: SyncPosition(.origin), limit: 100), subscription)
    }

    /// Another read is over.
    func release() {
      let slot = held.withLock { $0.popLast() }
      withExtendedLifetime(slot) {}
    }

    /// Whether all slots are free once the others have released theirs.
    func areAllFree() async -> Bool {
      held.withLock { $0.removeAll() }
      while true {
        let slots = (0..<UInt64(Limits.syncReads)).map { reads.takeIfFree(for: fixed(950 + $0)) }
        if slots.allSatisfy({ $0 != nil }) { return reads.waitingCount == 0 }
        await Task.yield()
      }
    }
  }

  /// - Returns: the stream, which waits for its turn.
  private func waiting(_ fixture: Fixture) async throws -> LiveStream {
    var stream = fixture.stream
    guard try await stream.nextNow() == nil else { throw TestFailure("the stream did not wait") }
    #expect(fixture.reads.waitingCount == 0, "its transport may have to wait for the client first")
    stream.whenReady { fixture.calls.withLock { $0 += 1 } }
    #expect(fixture.reads.waitingCount == 1)
    return stream
  }

  private struct TestFailure: Error {
    let text: String

    init(_ text: String) { self.text = text }
  }

  @Test("it goes on when its turn comes, and not for what it can send only later")
  func turn() async throws {
    let fixture = try await Fixture()
    var stream = try await waiting(fixture)
    stream.subscription.signals.change(through: LogPosition(1_000))
    for _ in 0..<Limits.streamHeartbeatSeconds { stream.subscription.signals.beat() }
    #expect(fixture.calls.withLock { $0 } == 0)
    fixture.release()
    #expect(fixture.calls.withLock { $0 } == 1)
    #expect(fixture.reads.takeIfFree(for: fixed(970)) == nil, "the stream has the slot")
    guard case .page = try await stream.nextNow() else { return #expect(Bool(false), "the account is new") }
    stream.subscription.cancel()
    #expect(await fixture.areAllFree())
    try fixture.service.close()
  }

  @Test("if it ends meanwhile, it says so at once and leaves the queue")
  func end() async throws {
    let fixture = try await Fixture()
    var stream = try await waiting(fixture)
    fixture.service.chat.live.endStreams()
    #expect(fixture.calls.withLock { $0 } == 1)
    guard case .ended = try await stream.nextNow() else { return #expect(Bool(false), "the stream has ended") }
    #expect(fixture.reads.waitingCount == 0)
    #expect(await fixture.areAllFree())
    try fixture.service.close()
  }

  @Test("if its client leaves meanwhile, it leaves the queue")
  func cancellation() async throws {
    let fixture = try await Fixture()
    var stream = try await waiting(fixture)
    stream.subscription.cancel()
    #expect(fixture.calls.withLock { $0 } == 1)
    await #expect(throws: CancellationError.self) { _ = try await stream.nextNow() }
    #expect(await fixture.areAllFree())
    try fixture.service.close()
  }

  @Test("if it ends when its turn has just come, the turn passes to the next", arguments: [true, false])
  func endWithTurn(isCancelled: Bool) async throws {
    let fixture = try await Fixture()
    var stream = try await waiting(fixture)
    fixture.release()
    #expect(fixture.calls.withLock { $0 } == 1)
    if isCancelled { stream.subscription.cancel() } else { fixture.service.chat.live.endStreams() }
    _ = try? await stream.nextNow()
    #expect(fixture.calls.withLock { $0 } == 1)
    #expect(await fixture.areAllFree())
    try fixture.service.close()
  }

  @Test("a task that waits for its frames waits for the turn too, and can be cancelled")
  func task() async throws {
    let fixture = try await Fixture()
    let stream = fixture.stream
    let next = Task {
      var stream = stream
      return try await stream.next()
    }
    while fixture.reads.waitingCount == 0 { await Task.yield() }
    next.cancel()
    await #expect(throws: CancellationError.self) { _ = try await next.value }
    #expect(await fixture.areAllFree())
    try fixture.service.close()
  }
}
