import ChatDomain
import ChatPrimitives

/// Does in memory what the writer does around `Decider.handle`: remembers the command under each key, and evolves the
/// state.
struct DeciderHarness<D: Decider> where D.Event: Traceable {
  private(set) var state = D.initial
  private(set) var events: [D.Event] = []
  /// The commands are added as they are submitted.
  var known = Known()
  var directory = TestDirectory()

  init(_ events: [D.Event]) {
    for event in events { record(event) }
  }

  /// - Returns: the stamp of the first event that the command recorded, now or at an earlier submission.
  mutating func submit(_ command: D.Command, by context: CommandContext) throws(Rejection) -> Stamp {
    let basis = DecisionBasis<D.Entity, D.State>(
      id: subject(), context: context, fingerprint: command.fingerprint(by: context.actor), known: known, state: state)
    switch try D.handle(command, on: basis, directory) {
    case .alreadyDone(let stamp):
      return stamp
    case .record(let new, _), .recordAgain(let new):
      let stamp = Stamp.at(UInt64(events.count) + 1)
      if let key = CommandKey(of: context) {
        let fingerprint = new.first?.fingerprint?.scoped(to: basis.id.uuid)
        known.commands[key] = KnownCommand(stamp: stamp, fingerprint: fingerprint)
      }
      for event in new { record(event) }
      return stamp
    }
  }

  mutating func record(_ event: D.Event) {
    events.append(event)
    D.evolve(&state, event, .at(UInt64(events.count)))
  }
}
