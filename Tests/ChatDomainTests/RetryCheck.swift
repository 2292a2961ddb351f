import ChatDomain
import ChatPrimitives
import Testing

/// A command, what happens after it, and how its retry looks by then.
struct Retry<D: Decider>: Sendable, CustomTestStringConvertible {
  var first: D.Command
  /// The same request, as it is made by then.
  var again: D.Command
  var context: CommandContext
  /// Events that a retry must neither undo nor stumble over.
  var later: [D.Event]
  /// Events that take the right away, and how the retry is refused then; empty where the right cannot be lost.
  var loss: [D.Event] = []
  var refusal: Rejection?
  /// What is known beside commands, at first and by then; nil where that has not changed.
  var known = Known()
  var knownAgain: Known?

  var testDescription: String { "\(first)" }
}

/// A registered user who is in no room yet.
let retryingNewcomer: UserID = id(60)

/// Does the command, lets what is later happen, and repeats it twice: nothing may change, and the answer must be the first.
func checkRetry<D: Decider>(_ retry: Retry<D>, after events: [D.Event]) throws where D.Event: Traceable {
  var harness = DeciderHarness<D>(events)
  harness.directory.registered.insert(retryingNewcomer)
  harness.known = retry.known
  let stamp = try harness.submit(retry.first, by: retry.context)
  for event in retry.later { harness.record(event) }
  if var known = retry.knownAgain {
    known.commands = harness.known.commands
    harness.known = known
  }
  var after = retry.context
  after.time = noon.adding(milliseconds: 400 * 86_400_000)
  let (state, count) = (harness.state, harness.events.count)
  for _ in 1...2 { #expect(try harness.submit(retry.again, by: after) == stamp) }
  #expect(harness.events.count == count)
  #expect(harness.state == state)
  guard let refusal = retry.refusal else { return }
  for event in retry.loss { harness.record(event) }
  #expect(throws: refusal) { try harness.submit(retry.again, by: after) }
}
