import ChatService
import NIOCore
import Synchronization

/// The replies for the messages of one event loop. The writer's thread adds them one by one and delivers those of a batch with
/// one wake-up. There are never more than the commands that the writer's queue and batch hold.
final class DirectInbox: Sendable {
  typealias Reply = ChatService.WriterReply

  private struct Entry: Sendable {
    let handler: NIOLoopBound<DirectSendHandler>
    let reply: Reply
  }

  private let eventLoop: any EventLoop
  private let entries = Mutex<[Entry]>([])

  init(_ eventLoop: any EventLoop) {
    self.eventLoop = eventLoop
  }

  func add(_ reply: Reply, for handler: NIOLoopBound<DirectSendHandler>) {
    entries.withLock { $0.append(Entry(handler: handler, reply: reply)) }
  }

  /// Wakes the event loop if there is something for it.
  func deliver() {
    guard entries.withLock({ !$0.isEmpty }) else { return }
    eventLoop.execute { [self] in
      let entries = self.entries.withLock { entries in
        defer { entries = [] }
        return entries
      }
      for entry in entries { entry.handler.value.complete(entry.reply) }
    }
  }
}

/// The inboxes of all event loops.
final class DirectInboxes: Sendable {
  private let inboxes = Mutex<[ObjectIdentifier: DirectInbox]>([:])

  func inbox(of eventLoop: any EventLoop) -> DirectInbox {
    inboxes.withLock { inboxes in
      let key = ObjectIdentifier(eventLoop)
      if let inbox = inboxes[key] { return inbox }
      let inbox = DirectInbox(eventLoop)
      inboxes[key] = inbox
      return inbox
    }
  }

  /// Called when a batch of replies is complete.
  func deliver() {
    for inbox in inboxes.withLock({ Array($0.values) }) { inbox.deliver() }
  }
}
