import ChatPrimitives
import Synchronization

/// Reports the progress of the read models that commands are looked up in. The receiver is connected later. Progress is
/// reported in steps, because each report costs the writer time.
final class ProgressThrottle: Sendable {
  /// Events between two steps.
  private static let step: UInt64 = 4096

  private struct State {
    var receiver: (@Sendable (LogPosition) -> Void)?
    var last = LogPosition.origin
  }

  private let state = Mutex(State())

  func connect(_ receiver: @escaping @Sendable (LogPosition) -> Void) {
    state.withLock { $0.receiver = receiver }
  }

  func send(_ position: LogPosition) {
    let receiver = state.withLock { state -> (@Sendable (LogPosition) -> Void)? in
      guard let receiver = state.receiver, position.distance(from: state.last) >= Self.step else { return nil }
      state.last = position
      return receiver
    }
    receiver?(position)
  }
}
