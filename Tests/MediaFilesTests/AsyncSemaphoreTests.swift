import ChatPrimitives
import Synchronization
import Testing

@testable import MediaFiles

@Suite("Semaphores and shared work")
struct AsyncSemaphoreTests {
  private let anna = user(1)
  private let ben = user(2)

  /// Holds a slot of the user until `open` is called.
  private func holder(
    of slots: AsyncSemaphore<UserID>
  ) async -> (task: Task<Void, any Error>, open: @Sendable () -> Void) {
    let (entered, enter) = AsyncStream<Void>.makeStream()
    let (gate, open) = AsyncStream<Void>.makeStream()
    let task = Task {
      try await slots.run(for: anna) {
        enter.finish()
        for await _ in gate {}
      }
    }
    for await _ in entered {}
    return (task, { open.finish() })
  }

  @Test("the rest wait, and beyond the limit they are turned away")
  func limit() async throws {
    let slots = AsyncSemaphore<UserID>(1, ofUser: 1, waitingLimit: 1)
    let (first, open) = await holder(of: slots)
    let second = Task { try await slots.run(for: anna) { 2 } }
    while slots.waitingCount == 0 { await Task.yield() }
    await #expect(throws: TooManyWaiting.self) { try await slots.run(for: anna) {} }
    open()
    try await first.value
    #expect(try await second.value == 2)
    #expect(try await slots.run(for: ben) { 3 } == 3)
  }

  @Test("a cancelled waiter leaves its place to others")
  func cancellation() async throws {
    let slots = AsyncSemaphore<UserID>(1, ofUser: 1, waitingLimit: 1)
    let (first, open) = await holder(of: slots)
    let second = Task { try await slots.run(for: ben) {} }
    while slots.waitingCount == 0 { await Task.yield() }
    second.cancel()
    await #expect(throws: CancellationError.self) { try await second.value }
    #expect(slots.waitingCount == 0)
    open()
    try await first.value
    try await slots.run(for: ben) {}
  }

  /// This is a class, because closures of several tasks share it.
  private final class Runs: Sendable {
    let count = Mutex(0)
  }

  /// Every caller gets a slot at once.
  private let atOnce: SharedWork<Int, Int>.Slot = { await $0() }

  /// Work that continues until it is cancelled.
  private func endless(_ runs: Runs, _ begin: AsyncStream<Void>.Continuation) -> @Sendable () async throws -> Int {
    {
      runs.count.withLock { $0 += 1 }
      begin.finish()
      try await Task.sleep(for: .seconds(3_600))
      return 1
    }
  }

  @Test("shared work is cancelled when the last who waits for it is, and not before", .timeLimit(.minutes(1)))
  func sharedWork() async throws {
    let work = SharedWork<Int, Int>()
    let (began, begin) = AsyncStream<Void>.makeStream()
    let runs = Runs()
    let make = endless(runs, begin)
    let waiters = (0..<2).map { _ in Task { try await work.value(of: 1, in: atOnce, make) } }
    for await _ in began {}
    while work.waiterCount(of: 1) < 2 { await Task.yield() }
    waiters[0].cancel()
    while work.waiterCount(of: 1) > 1 { await Task.yield() }
    #expect(runs.count.withLock { $0 } == 1)
    waiters[1].cancel()
    for waiter in waiters { await #expect(throws: CancellationError.self) { _ = try await waiter.value } }
    #expect(try await work.value(of: 1, in: atOnce) { 2 } == 2)
  }

  @Test("a cancelled caller does not wait for shared work that continues for others", .timeLimit(.minutes(1)))
  func leavingSharedWork() async throws {
    let work = SharedWork<Int, Int>()
    let (began, begin) = AsyncStream<Void>.makeStream()
    let make = endless(Runs(), begin)
    let stays = Task { try await work.value(of: 1, in: atOnce, make) }
    for await _ in began {}
    let leaves = Task { try await work.value(of: 1, in: atOnce, make) }
    while work.waiterCount(of: 1) < 2 { await Task.yield() }
    leaves.cancel()
    await #expect(throws: CancellationError.self) { _ = try await leaves.value }
    #expect(work.waiterCount(of: 1) == 1)
    stays.cancel()
    _ = await stays.result
  }

  @Test("shared work is done in the first slot that any of its callers gets", .timeLimit(.minutes(1)))
  func slotsOfSharedWork() async throws {
    let slots = AsyncSemaphore<UserID>(2, ofUser: 1, waitingLimit: 1)
    let work = SharedWork<Int, Int>()
    let (held, open) = await holder(of: slots)
    let annas = Task { try await work.value(of: 1, in: { body in try await slots.run(for: anna, body) }) { 1 } }
    while slots.waitingCount == 0 { await Task.yield() }
    // The user's queue is full, so only this caller is rejected.
    let refused = Task { try await work.value(of: 1, in: { body in try await slots.run(for: anna, body) }) { 2 } }
    await #expect(throws: TooManyWaiting.self) { _ = try await refused.value }
    let bens = Task { try await work.value(of: 1, in: { body in try await slots.run(for: ben, body) }) { 3 } }
    #expect(try await bens.value == 3)
    #expect(try await annas.value == 3)
    while slots.waitingCount > 0 { await Task.yield() }
    open()
    try await held.value
  }
}
