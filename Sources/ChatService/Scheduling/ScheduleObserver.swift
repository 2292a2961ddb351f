import ChatDomain
import ChatPrimitives
import Synchronization

/// Tells the scheduler that something was scheduled, as soon as it is durable.
package final class ScheduleObserver: Sendable {
  private let receiver = Mutex<(@Sendable (Timestamp) -> Void)?>(nil)

  init() {}

  /// - Parameter receiver: told the time that a message is to be sent at. Must not block.
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
