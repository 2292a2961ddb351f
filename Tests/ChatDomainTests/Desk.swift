import ChatDomain
import ChatPrimitives

/// The writer's way with a command, in memory: authorize, look for an earlier answer under the key, decide, evolve.
struct Desk<D: Decider> where D.Command: Fingerprinted, D.Event: Traceable {
  private struct Key: Hashable {
    var actor: UserID?
    var command: CommandID
  }

  private(set) var state = D.initial
  private(set) var facts: [D.Event] = []
  private var answers: [Key: CommandFacts] = [:]
  var directory = TestDirectory()

  init(_ facts: [D.Event]) {
    for fact in facts { record(fact) }
  }

  /// - Returns: the stamp of the first fact that the command recorded, now or earlier.
  mutating func submit(_ command: D.Command, by act: Act) throws(Rejection) -> Stamp {
    try D.authorize(command, by: act, in: state, directory)
    let key = act.command.map { Key(actor: act.actor, command: $0) }
    if let key, !command.isKnownByItself, let earlier = answers[key] {
      return try earlier.answer(to: command.fingerprint)
    }
    switch try D.decide(command, by: act, in: state, directory) {
    case .alreadyDone(let stamp):
      return stamp
    case .record(let new):
      let stamp = Stamp.at(UInt64(facts.count) + 1)
      if let key { answers[key] = CommandFacts(stamp: stamp, fingerprint: new.first?.fingerprint) }
      for fact in new { record(fact) }
      return stamp
    }
  }

  mutating func record(_ fact: D.Event) {
    facts.append(fact)
    D.evolve(&state, fact, .at(UInt64(facts.count)))
  }
}
