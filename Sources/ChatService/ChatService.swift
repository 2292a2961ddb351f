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
    /// The files that its message attaches, as far as they were looked up.
    var media: [MediaID: Media] = [:]
    /// Keeps the files that it refers to from being collected, until what it records is durable.
    var hold: MediaHold?

    package init(
      _ principal: Principal, _ operation: ChatCommand.Operation, command: CommandID? = nil,
      precondition: Precondition? = nil, originalTime: Timestamp? = nil
    ) {
      context = principal.context(command: command, precondition: precondition, originalTime: originalTime)
      self.operation = operation
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
      if hold == nil, !command.wasDoneBefore { hold = try await pictureHold(of: request) }
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
    case .outdated: return nil
    }
  }

  func prepare(_ request: Request) async throws(ServiceError) -> ChatCommand {
    try await prepare([request])[0]
  }

  /// The commands with what is known by their keys, looked up for all of them at once. An ID that was never seen costs no
  /// look at the disk.
  func prepare(_ requests: [Request]) async throws(ServiceError) -> [ChatCommand] {
    var commands = requests.map { ChatCommand(context: $0.context, operation: $0.operation) }
    var asking: [Int] = []
    var lookups: [Lookup] = []
    for index in commands.indices {
      var lookup = commands[index].lookup
      if let asOf = knownIDs.neverSeen(lookup) {
        commands[index].knownAsOf = asOf
        lookup = Lookup(ending: lookup.ending)
      }
      guard lookup != Lookup() else { continue }
      asking.append(index)
      lookups.append(lookup)
    }
    if !lookups.isEmpty {
      let (known, asOf) = try await failing { [lookups] in try await self.views.known(by: lookups) }
      for index in asking {
        commands[index].known = known
        commands[index].knownAsOf = min(commands[index].knownAsOf, asOf)
      }
    }
    for (index, request) in requests.enumerated() where !request.media.isEmpty {
      commands[index].known.media = request.media
    }
    return commands
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

extension ServiceError {
  init(_ error: CommitError) {
    switch error {
    case .overloaded: self = .overloaded
    case .poisoned: self = .logPoisoned
    case .closed: self = .shuttingDown
    }
  }
}

extension ChatCommand {
  /// Whether it is known to have been done before under the same key.
  fileprivate var wasDoneBefore: Bool { lookup.command.map { known.commands[$0] != nil } ?? false }
}
