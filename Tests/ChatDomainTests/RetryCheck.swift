import ChatDomain
import ChatPrimitives
import Testing

/// A command, what happens after it, and its retry.
struct Retry<D: Decider>: Sendable, CustomTestStringConvertible {
  var first: D.Command
  /// The same request as the client sends it later.
  var again: D.Command
  var context: CommandContext
  /// Events that a retry must neither undo nor fail on.
  var later: [D.Event]
  /// Events that take away the right to the command, and how the retry is then rejected. Empty if the right cannot be
  /// lost.
  var loss: [D.Event] = []
  var refusal: Rejection?
  /// What is known besides commands, at first and at the retry. `knownAgain` is nil if it has not changed.
  var known = Known()
  var knownAgain: Known?

  var testDescription: String { "\(first)" }
}

/// A registered user who is not in any room yet.
let retryingNewcomer: UserID = id(60)

/// Submits the command, records the later events, and submits the command twice more. Each time the response must be
/// the first one, and nothing may change.
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
