private import Dispatch

/// Holds a sync until it is released.
package final class SyncGate: Sendable {
  private let entered = DispatchSemaphore(value: 0)
  private let released = DispatchSemaphore(value: 0)

  package init() {}

  func pass() {
    entered.signal()
    // If a test forgets to release it, the test fails by its own expectations instead of hanging.
    _ = released.wait(timeout: .now() + .seconds(120))
  }

  /// Returns when a sync has begun; false if none begins within two minutes.
  package func waitUntilEntered() -> Bool {
    entered.wait(timeout: .now() + .seconds(120)) == .success
  }

  package func release() {
    released.signal()
  }
}
