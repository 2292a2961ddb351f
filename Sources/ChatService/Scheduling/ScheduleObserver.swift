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
      guard case .room(_, .scheduling(let event)) = recorded.event else { continue }
      switch event {
      case .scheduled(_, let message): if let message { notify(message.sendAt) }
      case .changed(_, let edit): if let sendAt = edit.sendAt { notify(sendAt) }
      case .cancelled, .failed: break
      }
    }
  }

  private func notify(_ time: Timestamp) {
    receiver.withLock { $0 }?(time)
  }
}
