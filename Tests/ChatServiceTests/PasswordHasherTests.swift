import ChatPrimitives
import Dispatch
import NIOPosix
import Testing

@testable import ChatService

@Suite("The pool that hashes passwords")
struct PasswordHasherTests {
  /// A pool with one thread, which is busy until `letGo` is called.
  private final class BusyPool: Sendable {
    let pool = NIOThreadPool(numberOfThreads: 1)
    private let gate = DispatchSemaphore(value: 0)

    init() {
      pool.start()
      pool.submit { [gate] _ in gate.wait() }
    }

    func letGo() { gate.signal() }
  }

  private func hasher(_ pool: NIOThreadPool) -> PasswordHasher {
    var cost = PasswordHasher.Cost()
    cost.logRounds = 4
    return PasswordHasher(keys: ServerKeys(secret: Array(repeating: 1, count: 32)), pool: pool, cost: cost)
  }

  private func isRefused(_ hasher: PasswordHasher, as use: PasswordHasher.Use) async -> Bool {
    do {
      _ = try await hasher.credential("correct horse", for: fixed(1), as: use)
      return false
    } catch ServiceError.overloaded {
      return true
    } catch {
      return false
    }
  }

  @Test("other uses can take only a part of the queue, and logins all of it")
  func shares() async throws {
    let busy = BusyPool()
    let hasher = hasher(busy.pool)
    func start(_ count: Int, as use: PasswordHasher.Use) async -> [Task<Bool, Never>] {
      let before = hasher.waitingCount
      let tasks = (0..<count).map { _ in Task { await isRefused(hasher, as: use) } }
      while hasher.waitingCount < before + count { await Task.yield() }
      return tasks
    }
    var tasks = await start(PasswordHasher.otherWaitingLimit, as: .other)
    #expect(await isRefused(hasher, as: .other))
    tasks += await start(PasswordHasher.waitingLimit - PasswordHasher.otherWaitingLimit, as: .login)
    #expect(await isRefused(hasher, as: .login))
    busy.letGo()
    for task in tasks { #expect(await !task.value) }
    #expect(hasher.waitingCount == 0)
    #expect(await !isRefused(hasher, as: .other))
    try await busy.pool.shutdownGracefully()
  }
}
