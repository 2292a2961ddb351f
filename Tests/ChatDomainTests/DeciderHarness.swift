import ChatDomain
import ChatPrimitives

/// What the writer does around `Decider.handle`, in memory: it remembers what came under which key, and evolves.
struct DeciderHarness<D: Decider> where D.Event: Traceable {
  private static var stream: UUIDBytes { UUIDBytes(high: 8, low: 8) }

  private struct Key: Hashable {
    var actor: UserID?
    var command: CommandID
  }

  private(set) var state = D.initial
  private(set) var events: [D.Event] = []
  private var answers: [Key: KnownCommand] = [:]
  var directory = TestDirectory()

  init(_ events: [D.Event]) {
    for event in events { record(event) }
  }

  /// - Returns: the stamp of the first event that the command recorded, now or earlier.
  mutating func submit(_ command: D.Command, by context: CommandContext) throws(Rejection) -> Stamp {
    let key = context.command.map { Key(actor: context.actor, command: $0) }
    let prior = key.flatMap { answers[$0] }
    switch try D.handle(command, by: context, prior: prior, on: Self.stream, in: state, directory) {
    case .alreadyDone(let stamp):
      return stamp
    case .record(let new):
      let stamp = Stamp.at(UInt64(events.count) + 1)
      if let key { answers[key] = knowledge(of: new.first, at: stamp) }
      for event in new { record(event) }
      return stamp
    }
  }

  private func knowledge(of event: D.Event?, at stamp: Stamp) -> KnownCommand {
    KnownCommand(stamp: stamp, fingerprint: event?.fingerprint?.scoped(to: Self.stream))
  }

  mutating func record(_ event: D.Event) {
    events.append(event)
    D.evolve(&state, event, .at(UInt64(events.count)))
  }
}
