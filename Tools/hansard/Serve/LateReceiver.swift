import Synchronization

/// Passes a call on to something that is made later. Calls before that are lost.
final class LateReceiver: Sendable {
  private let receiver = Mutex<(@Sendable () -> Void)?>(nil)

  /// - Parameter receiver: must not block.
  func connect(_ receiver: @escaping @Sendable () -> Void) { self.receiver.withLock { $0 = receiver } }

  func call() { receiver.withLock { $0 }?() }
}
