import ChatDomain
import ChatPrimitives
import Synchronization

/// Notifies the scheduler of scheduled messages as soon as they are durable.
package final class ScheduleObserver: Sendable {
  private let receiver = Mutex<(@Sendable (Timestamp) -> Void)?>(nil)

  init() {}

  /// - Parameter receiver: gets the sending time of each message. Must not block.
  func connect(_ receiver: @escaping @Sendable (Timestamp) -> Void) {
    self.receiver.withLock { $0 = receiver }
  }

  func take(_ events: [RecordedEvent]) {
    for recorded in events {
      switch recorded.event {
      case .room(_, .scheduling(.scheduled(_, let message))): notify(message.sendAt)
      case .room(_, .scheduling(.changed(_, let edit))): if let sendAt = edit.sendAt { notify(sendAt) }
      case .room, .user, .workspace, .server: break
      }
    }
  }

  private func notify(_ time: Timestamp) {
    receiver.withLock { $0 }?(time)
  }
}
