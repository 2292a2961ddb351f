import ChatDomain
import ChatPrimitives
import Synchronization

/// Tells the scheduler that something was scheduled, as soon as it is durable.
package final class ScheduleObserver: Sendable {
  private let listener = Mutex<(@Sendable (Timestamp) -> Void)?>(nil)

  init() {}

  /// - Parameter listener: told the time that a message is to be sent at. Must not block.
  func connect(_ listener: @escaping @Sendable (Timestamp) -> Void) {
    self.listener.withLock { $0 = listener }
  }

  func take(_ events: [RecordedEvent]) {
    for recorded in events {
      switch recorded.event {
      case .room(_, .scheduling(.scheduled(_, let message))): ring(message.sendAt)
      case .room(_, .scheduling(.changed(_, let edit))): if let sendAt = edit.sendAt { ring(sendAt) }
      case .room, .user, .workspace, .server: break
      }
    }
  }

  private func ring(_ time: Timestamp) {
    listener.withLock { $0 }?(time)
  }
}
