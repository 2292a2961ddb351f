import ChatDomain
import Synchronization

/// Notifies the eraser of deleted accounts and legal holds as soon as they are durable.
package final class ErasureObserver: Sendable {
  enum Change: Sendable {
    /// There may be more to erase.
    case more
    /// A legal hold was placed, so there may be less to erase.
    case less
  }

  private let receiver = Mutex<(@Sendable (Change) -> Void)?>(nil)

  init() {}

  /// - Parameter receiver: must not block.
  func connect(_ receiver: @escaping @Sendable (Change) -> Void) {
    self.receiver.withLock { $0 = receiver }
  }

  func take(_ events: [RecordedEvent]) {
    for recorded in events {
      switch recorded.event {
      case .user(_, .deletion(.deleted)), .server(.legalHoldLifted): notify(.more)
      case .server(.legalHoldPlaced): notify(.less)
      case .user, .room, .workspace, .server: break
      }
    }
  }

  private func notify(_ change: Change) {
    receiver.withLock { $0 }?(change)
  }
}
