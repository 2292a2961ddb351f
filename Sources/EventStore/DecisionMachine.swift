public import ChatDomain
public import ChatPrimitives

/// The state against which commands are decided. It is a value that only the writer's thread accesses, and it includes
/// events that are not durable yet.
package protocol DecisionMachine: Sendable {
  associatedtype Command: Sendable
  associatedtype Reply: Sendable

  /// Decides one command. If that produces events, the machine already includes them when this returns. They get the
  /// positions from `next` on.
  mutating func decide(_ command: Command, next: LogPosition, now: Timestamp) -> CommitDecision<Reply>
}

package struct CommitDecision<Reply: Sendable>: Sendable {
  /// The new events of the command, which go into one block. Empty if it was rejected or already done.
  package let events: [RecordedEvent]
  package let reply: Reply

  package init(events: [RecordedEvent], reply: Reply) {
    self.events = events
    self.reply = reply
  }
}

/// Why a command got no reply.
package enum CommitError: Error, Sendable {
  /// The queue is full; nothing was decided.
  case overloaded
  /// The log accepts nothing more. It is unknown whether the command became durable.
  case poisoned(reason: String)
  /// The server is shutting down; nothing was decided.
  case closed
}
