private import Dispatch

/// Holds a sync until it is let go.
package final class SyncGate: Sendable {
  private let entered = DispatchSemaphore(value: 0)
  private let released = DispatchSemaphore(value: 0)

  package init() {}

  func pass() {
    entered.signal()
    // A test that forgets to release fails by its own expectations, not by standing still.
    _ = released.wait(timeout: .now() + .seconds(120))
  }

  /// Returns when a sync has begun; false when none does within seconds.
  package func waitUntilEntered() -> Bool {
    entered.wait(timeout: .now() + .seconds(120)) == .success
  }

  package func release() {
    released.signal()
  }
}
