import ChatDomain
import ChatPrimitives
import ChatProjections
import ChatPush
import ChatService
import EventLogSimulation
import EventStore

/// One seed: commands, each sent twice and followed by a comparison, two restarts in between, the second without read
/// models, and a replay at the end. A prefix of the commands is retried after each restart and at the end.
final class ModelRun {
  let seed: UInt64
  let steps: Int
  /// Whether to print each command and its outcome.
  let isTraced: Bool
  private let clock = ModelClock()
  private let fixture: ModelFixture
  private var generator: CommandGenerator
  private var random: SeededRandom
  private(set) var model = ChatModel()
  private(set) var done: [Done] = []
  private(set) var tally = Tally()
  /// The clients that follow the users' changes.
  private var clients: [UserID: SyncClients] = [:]
  /// The users' open streams.
  private(set) var watch = LiveWatch()
  /// The outcome of each command.
  private(set) var outcomes: [String] = []

  /// A command that was done, and its response.
  struct Done {
    let number: Int
    let step: Step
    let receipt: Step.Receipt
  }

  /// How often each outcome and each event occurred.
  struct Tally {
    var recorded = 0
    var repeated = 0
    var refused: [String: Int] = [:]
    /// Commands that were sent again later and got the first response.
    var lateResponses = 0
    /// Rejections of commands that were done and sent again, because the actor had lost a right.
    var repeatRefusals: [String: Int] = [:]
    /// How often each kind of event was recorded.
    var events: [String: Int] = [:]
    /// Notifications that push would have to send.
    var notifications = 0
    /// Pages that streams got without reading.
    var suppliedPages = 0

    var refusals: Int { refused.values.reduce(0, +) }

    mutating func add(_ other: Tally) {
      recorded += other.recorded
      repeated += other.repeated
      lateResponses += other.lateResponses
      refused.merge(other.refused, uniquingKeysWith: +)
      repeatRefusals.merge(other.repeatRefusals, uniquingKeysWith: +)
      events.merge(other.events, uniquingKeysWith: +)
      notifications += other.notifications
      suppliedPages += other.suppliedPages
    }
  }

  /// - Parameter makesEveryEvent: starts with commands that record each kind of event once.
  init(seed: UInt64, steps: Int, makesEveryEvent: Bool = false, isTraced: Bool = false) async throws {
    self.isTraced = isTraced
    self.seed = seed
    self.steps = steps
    fixture = try await ModelFixture(clock: clock)
    generator = CommandGenerator(seed: seed, clock: clock, makesEveryEvent: makesEveryEvent)
    random = SeededRandom(seed: ~seed)
  }

  private var chat: ChatService { fixture.chat }
  private var users: [UserID] { generator.users }

  /// - Throws: `Failure`.
  func run() async throws {
    for number in 1...steps {
      let step = generator.next(model)
      try await saying(number, step.name) { try await self.take(step, number) }
      if number.isMultiple(of: 50) { try await saying(number, "everything") { try await self.compareAll() } }
      if number == steps / 3 {
        try await saying(number, "after a restart") { try await self.restart(keepsReadModels: true) }
      } else if number == steps * 2 / 3 {
        try await saying(number, "after a restart without read models") {
          try await self.restart(keepsReadModels: false)
        }
      }
    }
    try await saying(steps, "the replay") { try await self.replay() }
    try await saying(steps, "late retries") { try await self.retryPrefix() }
    try await saying(steps, "after the retries") { try await self.compareAll() }
    try fixture.remove()
  }

  private func saying(_ number: Int, _ what: String, _ body: () async throws -> Void) async throws {
    do {
      try await body()
    } catch let mismatch as Mismatch {
      throw Failure(seed: seed, step: number, command: what, mismatch: mismatch)
    } catch {
      throw Failure(seed: seed, step: number, command: what, mismatch: Mismatch("an error", ["  \(error)"]))
    }
  }

  // MARK: - One command

  private func take(_ step: Step, _ number: Int) async throws {
    let before = chat.store.head
    let known = model.head
    switch try await attempt(step) {
    case .found(let receipt):
      note(number, step, "at \(receipt.stamp.position)\(receipt.isNew ? "" : ", again")")
      try fold()
      if receipt.isNew == (model.head == before) {
        throw Mismatch("the receipt", ["  new: \(receipt.isNew), head before \(before), now \(model.head)"])
      }
      if receipt.isNew { tally.recorded += 1 } else { tally.repeated += 1 }
      done.append(Done(number: number, step: step, receipt: receipt))
      try await retry(done[done.count - 1], "the same again")
    case .refused(let reason):
      note(number, step, reason)
      tally.refused[reason, default: 0] += 1
      try fold()
      if reason == "quota_exceeded", !isUsedUp(by: step.user) {
        throw Mismatch("refused with \(reason)", ["  and nothing is used up"])
      }
      // Only this rejection records events: using an old refresh token ends the session.
      if model.head != before, reason != "refresh_token_reused" {
        throw Mismatch("refused with \(reason), and recorded all the same", ["  head \(before), now \(model.head)"])
      }
    }
    var comparison = comparison()
    let events = try chat.store.events(after: known, limit: .max)
    try await comparison.compare(Touched(step, events), users: users)
    let user = users[random.below(users.count)]
    try await comparison.compareSync(of: user, &clients[user, default: SyncClients()])
    let suppliedBefore = watch.suppliedPages
    try await watch.check(chat, users, &random)
    tally.suppliedPages += watch.suppliedPages - suppliedBefore
  }

  /// Whether the user has used up the messages of the day, or has too few bytes left for an upload. All uploads have
  /// the same size.
  private func isUsedUp(by user: UserID?) -> Bool {
    guard let used = user.map({ model.usage(of: $0, at: clock.now()) }) else { return false }
    let quotas = ModelFixture.quotas
    return used.messages >= quotas.messagesPerDay ?? .max
      || used.mediaBytes + CommandGenerator.uploadBytes > quotas.mediaBytesPerDay ?? .max
  }

  private func note(_ number: Int, _ step: Step, _ outcome: String) {
    outcomes.append("\(number): \(outcome)")
    if isTraced { print("\(number): \(step.name) -> \(outcome)") }
  }

  /// The outcome of a command. A rejection is a result, and any other error is a failure.
  private func attempt(_ step: Step) async throws -> QueryResult<Step.Receipt> {
    do {
      return .found(try await step.perform(chat))
    } catch ServiceError.rejected(let rejection) {
      return .refused(rejection.rawValue)
    } catch ServiceError.malformed(let flaws) {
      guard case .rejection(let rejection)? = flaws.first?.reason else { throw ServiceError.malformed(flaws) }
      return .refused(rejection.rawValue)
    }
  }

  /// Sends a command again. It must get the same response, or be rejected if the actor has lost a right according to
  /// the model. Nothing may be recorded either way.
  private func retry(_ done: Done, _ what: String) async throws {
    let before = chat.store.head
    let refusals = model.refusals(of: done.step, at: clock.now())
    switch try await attempt(done.step) {
    case .found(let second):
      if let mismatch = Mismatch(what, expected: done.receipt.stamp, found: second.stamp) { throw mismatch }
      if second.isNew { throw Mismatch(what, ["  was recorded as new"]) }
      if !refusals.isEmpty { throw Mismatch(what, ["  succeeded; expected \(refusals.sorted())"]) }
      tally.lateResponses += 1
    case .refused(let reason):
      if !refusals.contains(reason) {
        throw Mismatch(what, ["  was refused with \(reason); expected \(refusals.sorted()), or success if empty"])
      }
      tally.repeatRefusals[reason, default: 0] += 1
    }
    if let mismatch = Mismatch("head after \(what)", expected: before, found: chat.store.head) { throw mismatch }
  }

  /// Applies the log's new events to the model.
  private func fold() throws {
    let new = try chat.store.events(after: model.head, limit: .max)
    for event in new { tally.events[EventKinds.name(of: event.event), default: 0] += 1 }
    model.take(new)
    if let breach = model.breaches.first { throw Mismatch("a rule is broken", ["  \(breach)"]) }
    if let rule = model.brokenRule { throw Mismatch("a rule is broken", ["  \(rule)"]) }
  }

  private func comparison() -> Comparison {
    Comparison(chat: chat, model: model, random: SeededRandom(seed: random.next()))
  }

  private func compareAll() async throws {
    var comparison = comparison()
    try await comparison.compareAll(users: users)
  }

  // MARK: - Restart, replay, retries

  /// Checks that a model built again from the log on disk is the same, that every user sees the same, and that earlier
  /// commands are still recognized.
  private func restart(keepsReadModels: Bool) async throws {
    // The read models that were updated command by command are compared before they are rebuilt in one step.
    if keepsReadModels { try await chat.readModels.waitForAll(chat.store.head, timeoutMilliseconds: 60_000) } else { try await replay() }
    watch = LiveWatch()
    try await fixture.restart(keepsReadModels: keepsReadModels)
    model = ChatModel()
    model.take(try chat.store.events(after: .origin, limit: .max))
    try await retryPrefix()
    try await compareAll()
    try await compareDecisionState()
  }

  /// The state that decisions need, restored from the read models, must equal the one that evolves from the log.
  private func compareDecisionState() async throws {
    let knownIDs = KnownIDs(KnownIDFilter(), newest: .origin)
    let restored = try await DecisionState(
      restoring: DecisionStateSource(chat.readModels), knownIDs: knownIDs, floor: chat.store.head,
      quotas: ModelFixture.quotas)
    var evolved = DecisionState(knownIDs: knownIDs, floor: .origin, quotas: ModelFixture.quotas)
    for event in try chat.store.events(after: .origin, limit: .max) { evolved.take(event) }
    for pair in [
      Mismatch("restored users", expected: evolved.users, found: restored.users),
      Mismatch("restored rooms", expected: evolved.rooms, found: restored.rooms),
      Mismatch("restored workspaces", expected: evolved.workspaces, found: restored.workspaces),
      Mismatch("restored names", expected: evolved.names, found: restored.names),
      Mismatch("restored channels", expected: evolved.channels, found: restored.channels),
      Mismatch("restored direct rooms", expected: evolved.directRooms, found: restored.directRooms),
      Mismatch("restored rooms of users", expected: evolved.spaces, found: restored.spaces),
      Mismatch("restored items of users", expected: evolved.items, found: restored.items),
      Mismatch("restored usage", expected: evolved.usage, found: restored.usage),
      Mismatch("restored signing keys", expected: evolved.signingKeys, found: restored.signingKeys),
      Mismatch("restored server", expected: evolved.serverVersion, found: restored.serverVersion),
    ] {
      if let pair { throw pair }
    }
  }

  /// Every read model, and the push outbox, must have the same rows when rebuilt from the log.
  private func replay() async throws {
    try await chat.readModels.waitForAll(chat.store.head, timeoutMilliseconds: 60_000)
    try await fixture.outbox.wait(for: chat.store.head, timeoutMilliseconds: 60_000)
    try await compareDecisionState()
    let rebuild = ProjectionRebuild(
      directory: fixture.readModels, feed: chat.store, logIdentity: chat.logIdentity)
    for projection in Projections.all + [PushProjection.self] {
      let report = try rebuild.verify(projection)
      if !report.isEqual {
        throw Mismatch("\(projection.name) made again", report.differences.map { "  \($0)" })
      }
    }
    tally.notifications += try PushComparison(events: chat.store.events(after: .origin, limit: .max)).compare()
  }

  /// Sends every command of a prefix again in order, if it is still the same command.
  private func retryPrefix() async throws {
    for done in done.prefix(random.within(1...max(1, done.count))) where done.step.isSameCommand(model) {
      try await retry(done, "late retry of command \(done.number), \(done.step.name)")
    }
  }
}

/// Everything that is needed to reproduce a failure.
struct Failure: Error, CustomStringConvertible {
  let seed: UInt64
  let step: Int
  let command: String
  let mismatch: Mismatch

  var description: String {
    (["seed \(seed), step \(step): \(command)", "\(mismatch.what):"] + mismatch.lines.prefix(60)).joined(
      separator: "\n")
  }
}
