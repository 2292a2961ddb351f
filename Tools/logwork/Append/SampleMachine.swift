import ChatDomain
import ChatPrimitives
import EventStore

/// The simplest possible decision machine: each command becomes one event.
struct SampleMachine: DecisionMachine {
  enum Command: Sendable {
    case register(author: Int)
    case send(author: Int, message: UUIDBytes, text: String)
  }

  private let authors: [SampleAuthor]
  /// The stream version of each author's room.
  private var versions: [UInt64]

  init(authors: [SampleAuthor]) {
    self.authors = authors
    versions = authors.map { _ in 0 }
  }

  /// Returns the event, with its position as the reply.
  mutating func decide(_ command: Command, next: LogPosition, now: Timestamp) -> CommitDecision<LogPosition> {
    let stamp = Stamp(position: next, time: now)
    switch command {
    case .register(let author):
      return CommitDecision(events: [authors[author].registered(at: stamp)], reply: next)
    case .send(let author, let message, let text):
      versions[author] += 1
      let event = authors[author].sent(message, text, version: versions[author], at: stamp)
      return CommitDecision(events: [event], reply: next)
    }
  }
}
