package import ChatDomain
package import ChatPrimitives
package import ChatProjections
package import EventStore
import Foundation
package import MediaFiles

/// One command in, one receipt out; and queries. Knows nothing of how requests arrive.
package final class ChatService: Sendable {
  /// Events that the slowest read model may lack before commands are refused.
  package static let projectionLagLimit: UInt64 = 200_000
  /// Events that a read model may lack while it cannot be written, for example because the disk is full: about one
  /// transaction, so that it catches up soon after the fault is gone.
  package static let failingLagLimit: UInt64 = 4096
  /// How often what was looked up may be overtaken before a command is given up as overloaded.
  private static let lookupAttempts = 3

  package let views: ReadModels
  package let store: EventStore
  let pipeline: CommitPipeline<DecisionState>
  let hasher: PasswordHasher
  let keys: ServerKeys
  let media: MediaStore
  let gate: SessionGate
  let scheduleObserver = ScheduleObserver()
  package let rules: AccountRules
  let quotas: Quotas
  package let signingKeys: SigningKeys
  package let clock: CheckedClock
  private let knownIDs: KnownIDs

  package init(
    store: EventStore, views: ReadModels, pipeline: CommitPipeline<DecisionState>, knownIDs: KnownIDs,
    gate: SessionGate,
    hasher: PasswordHasher, keys: ServerKeys, rules: AccountRules, quotas: Quotas, signingKeys: SigningKeys,
    media: MediaStore, clock: CheckedClock
  ) {
    self.store = store
    self.views = views
    self.pipeline = pipeline
    self.knownIDs = knownIDs
    self.gate = gate
    self.hasher = hasher
    self.keys = keys
    self.media = media
    self.rules = rules
    self.quotas = quotas
    self.signingKeys = signingKeys
    self.clock = clock
  }

  /// What time it is, for decisions, queries and whatever runs beside them.
  package var now: @Sendable () -> Timestamp { { [clock] in clock.now } }

  /// The system clock, unchecked.
  package static func now() -> Timestamp {
    Timestamp(milliseconds: Int64((Date().timeIntervalSince1970 * 1000).rounded(.down)))
  }
}

// MARK: - The way of a command

extension ChatService {
  /// A command before anything was looked up for it.
  package struct Request: Sendable {
    package var context: CommandContext
    package var operation: ChatCommand.Operation
    /// Keeps the files that it refers to from being collected, until what it records is durable.
    var hold: MediaHold?

    package init(
      _ principal: Principal, _ operation: ChatCommand.Operation, command: CommandID? = nil,
      precondition: Precondition? = nil, originalTime: Timestamp? = nil
    ) {
      context = principal.context(command: command, precondition: precondition, originalTime: originalTime)
      self.operation = operation
    }

    /// What an earlier command would be known by; nil when the command is known by what it creates.
    var key: CommandKey? { operation.isKnownByItself ? nil : CommandKey(of: context) }

    /// What has to be looked up because it is not in memory if it has ended.
    var endingKey: EndingKey? { EndingKey(operation) }

    /// The reaction of which the counts have to be looked up.
    var reaction: ReactionKey? {
      guard let user = context.actor, case .room(let room, let command) = operation else { return nil }
      return ReactionKey(command, by: user, in: room)
    }
  }

  /// Whether writes pause until the read models have caught up.
  var writesArePaused: Bool {
    views.isBehind(limit: Self.projectionLagLimit, failingLimit: Self.failingLagLimit)
  }

  /// Decides a command and returns when all that the answer rests on is durable.
  package func perform(_ request: Request) async throws(ServiceError) -> ChatOutcome {
    guard !writesArePaused else { throw .projectionBehind }
    var hold = request.hold
    defer { withExtendedLifetime(hold) {} }
    for _ in 0..<Self.lookupAttempts {
      let command = try await prepare(request)
      // A repeat is answered as the first time, whatever became of the picture since.
      if hold == nil, command.prior == nil { hold = try await pictureHold(of: request) }
      let reply: ChatReply
      do {
        reply = try await pipeline.submit(command)
      } catch {
        throw ServiceError(error)
      }
      if let outcome = try take(reply) { return outcome }
    }
    throw .overloaded
  }

  /// The outcome of a reply; nil when the command has to be prepared anew.
  func take(_ reply: ChatReply) throws(ServiceError) -> ChatOutcome? {
    switch reply {
    case .done(let outcome):
      gate.take(outcome.events)
      signingKeys.take(outcome.events)
      scheduleObserver.take(outcome.events)
      return outcome
    case .rejected(let rejection): throw .rejected(rejection)
    case .staleFacts: return nil
    }
  }

  /// The command with what the ID index knows. An ID that was never seen costs no look at the disk.
  func prepare(_ request: Request) async throws(ServiceError) -> ChatCommand {
    if let command = commandWithoutLookup(request), request.endingKey == nil { return command }
    return try await prepare([request])[0]
  }

  /// The same for many, with one look at the disk for all.
  func prepare(_ requests: [Request]) async throws(ServiceError) -> [ChatCommand] {
    var commands = requests.map { commandWithoutLookup($0) }
    let unknown = commands.indices.filter { commands[$0] == nil }
    if !unknown.isEmpty {
      let found = try await lookUp(unknown.map { requests[$0] })
      for (index, command) in zip(unknown, found) { commands[index] = command }
    }
    return try await addEndings(to: commands.compactMap { $0 }, for: requests.map(\.endingKey))
  }

  /// The commands with what the read models know of what each key names.
  private func addEndings(
    to commands: [ChatCommand], for keys: [EndingKey?]
  ) async throws(ServiceError) -> [ChatCommand] {
    let asked = keys.compactMap { $0 }
    if asked.isEmpty { return commands }
    let answer = try await failing { try await self.views.endings(of: asked) }
    return zip(commands, keys).map { command, key in
      guard let key else { return command }
      var command = command
      command.ending = answer.endings[key]
      command.factsAsOf = min(command.factsAsOf, answer.position)
      return command
    }
  }

  /// Nil when the ID index has to be asked.
  private func commandWithoutLookup(_ request: Request) -> ChatCommand? {
    let messages = request.operation.messages
    let key = request.key
    guard !messages.isEmpty || key != nil else {
      return ChatCommand(context: request.context, operation: request.operation, factsAsOf: .latest)
    }
    let (mayBeKnown, asOf) = knownIDs.mayContain(messages: messages, command: key)
    if mayBeKnown { return nil }
    return ChatCommand(context: request.context, operation: request.operation, factsAsOf: asOf)
  }

  private func lookUp(_ requests: [Request]) async throws(ServiceError) -> [ChatCommand] {
    try await failing {
      try await self.views.ids.read { ids in
        let asOf = try ids.checkpoint().position
        let keys = requests.map(\.operation.messages)
        var facts = try ids.messageFacts(keys.flatMap { $0 }).facts[...]
        var schedulings = try ids.schedulingFacts(requests.compactMap(\.operation.schedulable)).facts[...]
        let commands = try ids.commandFacts(requests.compactMap(\.key)).facts
        var reactions = try ids.reactionCounts(requests.compactMap(\.reaction))[...]
        var nextCommand = commands.makeIterator()
        return zip(requests, keys).map { request, keys in
          let found = zip(keys, facts.prefix(keys.count))
          facts = facts.dropFirst(keys.count)
          let prior = request.key == nil ? nil : nextCommand.next() ?? nil
          let scheduling = request.operation.schedulable == nil ? nil : schedulings.popFirst() ?? nil
          let counts = request.reaction == nil ? nil : reactions.popFirst()
          return ChatCommand(
            context: request.context, operation: request.operation.with(found).with(counts), prior: prior,
            scheduling: scheduling,
            factsAsOf: asOf)
        }
      }
    }
  }

  /// Runs a query; what goes wrong in it is a failure of the machine, unless it says otherwise.
  func failing<T>(_ body: () async throws -> T) async throws(ServiceError) -> T {
    do {
      return try await body()
    } catch let error as ServiceError {
      throw error
    } catch let error as MediaError {
      throw ServiceError(error)
    } catch is ProjectionBehind {
      throw .projectionBehind
    } catch is CancellationError {
      throw .cancelled
    } catch {
      // The read models close after the writer: a lookup that comes between finds them closed.
      if pipeline.isClosing { throw .shuttingDown }
      throw .failed(String(describing: error))
    }
  }
}

extension LogPosition {
  /// Of facts that need no looking up, and so never grow old.
  static let latest = LogPosition(.max)
}

extension ServiceError {
  init(_ error: CommitError) {
    switch error {
    case .overloaded: self = .overloaded
    case .poisoned: self = .logPoisoned
    case .closed: self = .shuttingDown
    }
  }
}

extension ChatCommand.Operation {
  /// The messages that have to be looked up.
  var messages: [MessageKey] {
    guard case .room(let room, let command) = self else { return [] }
    return command.messages.map { MessageKey(room: room, message: $0) }
  }

  /// The ID that has to be looked up among those of scheduled messages.
  var schedulable: MessageKey? {
    guard case .room(let room, let command) = self else { return nil }
    return command.schedulable.map { MessageKey(room: room, message: $0) }
  }

  var isKnownByItself: Bool {
    switch self {
    case .user(let command): command.action.isKnownByItself
    case .room(_, let command): command.isKnownByItself
    case .workspace(_, let command): command.isKnownByItself
    case .roomInvite, .workspaceInvite, .server: true
    case .acceptInvite, .rotateSigningKey: false
    }
  }

  /// - Parameter found: what is known of each of `messages`.
  func with(_ found: some Sequence<(MessageKey, KnownMessage?)>) -> Self {
    guard case .room(let room, let command) = self else { return self }
    let facts = found.map { ($0.message, $1) }
    return .room(room, command.withFacts { id, known in facts.first { $0.0 == id }?.1 ?? known })
  }
}

extension ChatCommand.Operation {
  /// - Parameter counts: what is known of the reactions of the message that it reacts to.
  fileprivate func with(_ counts: ReactionCounts?) -> Self {
    guard let counts, case .room(let room, let command) = self else { return self }
    return .room(room, command.withReactions(counts))
  }
}

extension ReactionKey {
  /// Nil unless the command is about a reaction.
  init?(_ command: RoomCommand, by user: UserID, in room: RoomID) {
    guard let reaction = command.reaction else { return nil }
    self.init(message: MessageKey(room: room, message: reaction.message), user: user, emoji: reaction.emoji)
  }
}
