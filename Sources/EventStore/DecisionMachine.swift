public import ChatDomain
public import ChatPrimitives

/// What commands are decided against: a value that the writer's thread alone touches, and that includes what is still
/// on its way to the disk.
package protocol DecisionMachine: Sendable {
  associatedtype Command: Sendable
  associatedtype Reply: Sendable

  /// Decides one command. When that produces events, the machine has already taken them in; they get the positions from
  /// `next` on.
  mutating func decide(_ command: Command, next: LogPosition, now: Timestamp) -> CommitDecision<Reply>
}

package struct CommitDecision<Reply: Sendable>: Sendable {
  /// New events, all of one command: they go into one block. Empty for a refusal or an "already done".
  package let events: [RecordedEvent]
  package let reply: Reply

  package init(events: [RecordedEvent], reply: Reply) {
    self.events = events
    self.reply = reply
  }
}

/// Why a command has no reply.
package enum CommitError: Error, Sendable {
  /// The queue is full; nothing was decided.
  case overloaded
  /// The log accepts nothing more; whether the command became durable is not known.
  case poisoned(reason: String)
  /// The server is shutting down; nothing was decided.
  case closed
}
