package import ChatDomain
package import ChatPrimitives
package import ChatProjections
package import EventStore
import Foundation

/// One command in, one receipt out; and queries. Knows nothing of how requests arrive.
package final class ChatService: Sendable {
  /// Events that the slowest read model may lack before commands are refused.
  package static let projectionLagLimit: UInt64 = 200_000
  /// How often what was looked up may be overtaken before a command is given up as overloaded.
  private static let lookupAttempts = 3

  package let views: ReadModels
  package let store: EventStore
  let pipeline: CommitPipeline<DecisionState>
  let hasher: PasswordHasher
  let keys: ServerKeys
  let gate: SessionGate
  private let seen: SeenIDs

  package init(
    store: EventStore, views: ReadModels, pipeline: CommitPipeline<DecisionState>, seen: SeenIDs, gate: SessionGate,
    hasher: PasswordHasher, keys: ServerKeys
  ) {
    self.store = store
    self.views = views
    self.pipeline = pipeline
    self.seen = seen
    self.gate = gate
    self.hasher = hasher
    self.keys = keys
  }

  /// The wall clock.
  package static func now() -> Timestamp {
    Timestamp(milliseconds: Int64((Date().timeIntervalSince1970 * 1000).rounded(.down)))
  }
}

// MARK: - The way of a command

extension ChatService {
  /// A command before anything was looked up for it.
  package struct Request: Sendable {
    package var act: Act
    package var operation: ChatCommand.Operation

    package init(
      _ principal: Principal, _ operation: ChatCommand.Operation, command: CommandID? = nil,
      originalTime: Timestamp? = nil
    ) {
      act = principal.act(command: command, originalTime: originalTime)
      self.operation = operation
    }

    /// What an earlier command would be known by; nil when the command is known by what it creates.
    var key: CommandKey? { operation.isKnownByItself ? nil : CommandKey(acting: act) }
  }

  /// Decides a command and returns when all that the answer rests on is durable.
  package func perform(_ request: Request) async throws(ServiceError) -> ChatOutcome {
    guard views.maximumLag <= Self.projectionLagLimit else { throw .projectionBehind }
    for _ in 0..<Self.lookupAttempts {
      let command = try await prepare(request)
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
      return outcome
    case .rejected(let rejection): throw .rejected(rejection)
    case .staleFacts: return nil
    }
  }

  /// The command with what the ID index knows. An ID that was never seen costs no look at the disk.
  func prepare(_ request: Request) async throws(ServiceError) -> ChatCommand {
    if let command = commandWithoutLookup(request) { return command }
    return try await lookUp([request])[0]
  }

  /// The same for many, with one look at the disk for all.
  func prepare(_ requests: [Request]) async throws(ServiceError) -> [ChatCommand] {
    var commands = requests.map { commandWithoutLookup($0) }
    let unknown = commands.indices.filter { commands[$0] == nil }
    if !unknown.isEmpty {
      let found = try await lookUp(unknown.map { requests[$0] })
      for (index, command) in zip(unknown, found) { commands[index] = command }
    }
    return commands.compactMap { $0 }
  }

  /// Nil when the ID index has to be asked.
  private func commandWithoutLookup(_ request: Request) -> ChatCommand? {
    let message = request.operation.message
    let key = request.key
    guard message != nil || key != nil else {
      return ChatCommand(act: request.act, operation: request.operation, factsAsOf: .latest)
    }
    let (mayBeKnown, asOf) = seen.mayContain(message: message, command: key)
    if mayBeKnown { return nil }
    return ChatCommand(act: request.act, operation: request.operation, factsAsOf: asOf)
  }

  private func lookUp(_ requests: [Request]) async throws(ServiceError) -> [ChatCommand] {
    try await failing {
      try await self.views.ids.read { ids in
        let asOf = try ids.checkpoint().position
        let messages = try ids.messageFacts(requests.compactMap(\.operation.message)).facts
        let commands = try ids.commandFacts(requests.compactMap(\.key)).facts
        var nextMessage = messages.makeIterator()
        var nextCommand = commands.makeIterator()
        return requests.map { request in
          let message = request.operation.message == nil ? nil : nextMessage.next() ?? nil
          let prior = request.key == nil ? nil : nextCommand.next() ?? nil
          return ChatCommand(
            act: request.act, operation: request.operation.with(message), prior: prior, factsAsOf: asOf)
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
    } catch is ProjectionBehind {
      throw .projectionBehind
    } catch {
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
  /// The message that has to be looked up.
  var message: MessageKey? {
    guard case .room(let room, let wish) = self else { return nil }
    switch wish {
    case .sendMessage(let id, _, _, _), .editMessage(let id, _, _), .deleteMessage(let id, _),
      .moveReadMarker(let id, _):
      return MessageKey(room: room, message: id)
    case .create, .edit, .archive, .createInvite, .revokeInvite, .acceptInvite, .join, .addMember, .removeMember,
      .leave, .mute:
      return nil
    }
  }

  var isKnownByItself: Bool {
    switch self {
    case .user(let wish): wish.action.isKnownByItself
    case .room(_, let wish): wish.isKnownByItself
    case .roomInvite, .server: true
    case .acceptInvite: false
    }
  }

  func with(_ facts: MessageFacts?) -> Self {
    guard let facts, case .room(let room, let wish) = self else { return self }
    switch wish {
    case .sendMessage(let id, let content, let fingerprint, _):
      return .room(room, .sendMessage(id, content, fingerprint: fingerprint, prior: facts))
    case .editMessage(let id, let edit, _): return .room(room, .editMessage(id, edit, target: facts))
    case .deleteMessage(let id, _): return .room(room, .deleteMessage(id, target: facts))
    case .moveReadMarker(let id, _): return .room(room, .moveReadMarker(id, target: facts))
    case .create, .edit, .archive, .createInvite, .revokeInvite, .acceptInvite, .join, .addMember, .removeMember,
      .leave, .mute:
      return self
    }
  }
}

extension CommandKey {
  /// Nil when the request carries no key, or nobody is known to make it.
  init?(acting act: Act) {
    guard let command = act.command, let actor = act.actor?.uuid ?? act.service?.uuid else { return nil }
    self.init(actor: actor, command: command)
  }
}
