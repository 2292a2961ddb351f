import Synchronization

/// Passes calls on to a receiver that is created after the caller. Calls before `connect` have no effect.
final class LateReceiver: Sendable {
  private let receiver = Mutex<(@Sendable () -> Void)?>(nil)

  /// - Parameter receiver: must not block.
  func connect(_ receiver: @escaping @Sendable () -> Void) { self.receiver.withLock { $0 = receiver } }

  func call() { receiver.withLock { $0 }?() }
}
