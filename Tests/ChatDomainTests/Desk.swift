import ChatDomain
import ChatPrimitives

/// What the writer does around `Decider.settle`, in memory: it remembers what came under which key, and evolves.
struct Desk<D: Decider> where D.Event: Traceable {
  private static var stream: UUIDBytes { UUIDBytes(high: 8, low: 8) }

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
    let key = act.command.map { Key(actor: act.actor, command: $0) }
    let prior = key.flatMap { answers[$0] }
    switch try D.settle(command, by: act, prior: prior, on: Self.stream, in: state, directory) {
    case .alreadyDone(let stamp):
      return stamp
    case .record(let new):
      let stamp = Stamp.at(UInt64(facts.count) + 1)
      if let key { answers[key] = facts(of: new.first, at: stamp) }
      for fact in new { record(fact) }
      return stamp
    }
  }

  private func facts(of fact: D.Event?, at stamp: Stamp) -> CommandFacts {
    CommandFacts(stamp: stamp, fingerprint: fact?.fingerprint?.scoped(to: Self.stream))
  }

  mutating func record(_ fact: D.Event) {
    facts.append(fact)
    D.evolve(&state, fact, .at(UInt64(facts.count)))
  }
}
