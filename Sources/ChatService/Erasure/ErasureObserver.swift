import ChatDomain
import ChatPrimitives
import Synchronization

/// Notifies the eraser of deleted accounts and legal holds as soon as they are durable, and remembers when the last erasure was
/// completed.
package final class ErasureObserver: Sendable {
  enum Change: Sendable {
    /// There may be more to erase.
    case more
    /// A legal hold was placed, so there may be less to erase.
    case less
  }

  private let receiver = Mutex<(@Sendable (Change) -> Void)?>(nil)
  private let completed = Mutex<Timestamp?>(nil)

  init() {}

  /// - Parameter receiver: must not block.
  func connect(_ receiver: @escaping @Sendable (Change) -> Void) {
    self.receiver.withLock { $0 = receiver }
  }

  /// Nil if none was completed or remembered since the start of the server.
  var lastCompleted: Timestamp? { completed.withLock { $0 } }

  func remember(completedAt time: Timestamp) {
    completed.withLock { $0 = max($0 ?? time, time) }
  }

  func take(_ events: [RecordedEvent]) {
    for recorded in events {
      switch recorded.event {
      case .user(_, .deletion(.deleted)), .server(.legalHoldLifted): notify(.more)
      case .server(.legalHoldPlaced): notify(.less)
      case .user(_, .deletion(.erased)): remember(completedAt: recorded.stamp.time)
      case .user, .room, .workspace, .server: break
      }
    }
  }

  private func notify(_ change: Change) {
    receiver.withLock { $0 }?(change)
  }
}
