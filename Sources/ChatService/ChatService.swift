package import ChatDomain
package import ChatPrimitives
package import ChatProjections
package import EventStore
import Foundation
package import MediaFiles

/// Performs commands and queries. Knows nothing of HTTP.
package final class ChatService: Sendable {
  /// How many events the slowest read model may be behind before commands are refused.
  package static let projectionLagLimit: UInt64 = 200_000
  /// How many events a read model may be behind while it cannot be written, for example because the disk is full. It is so
  /// low that the read model catches up soon after the disk works again.
  package static let failingLagLimit: UInt64 = 4096
  /// How often a command is looked up again because newer events made the lookup outdated. Then it fails as overloaded.
  private static let lookupAttempts = 3

  package let readModels: ReadModels
  package let store: EventStore
  let pipeline: CommitPipeline<DecisionState>
  let hasher: PasswordHasher
  let keys: ServerKeys
  let media: MediaStore
  let gate: SessionGate
  let scheduleObserver = ScheduleObserver()
  let erasureObserver = ErasureObserver()
  let heldRooms = DeletedHeldRooms()
  let delayedErasures = DelayedErasures()
  package let rules: AccountRules
  let quotas: Quotas
  package let signingKeys: SigningKeys
  package let clock: CheckedClock
  package let storage: StorageSpace
  /// Makes and checks the cursors of the sync.
  package var cursorDigests: CursorDigests { live.digests }
  /// Tells streams when to read.
  package let live: LiveFeed
  /// Slots for pages of the sync. Thousands of streams can want to read at the same time.
  let syncReads = AsyncSemaphore<UserID>(Limits.syncReads, ofUser: 1, waitingLimit: Limits.waitingSyncReads)
  private let knownIDs: KnownIDs

  package init(
    store: EventStore, readModels: ReadModels, pipeline: CommitPipeline<DecisionState>, knownIDs: KnownIDs,
    gate: SessionGate,
    hasher: PasswordHasher, keys: ServerKeys, rules: AccountRules, quotas: Quotas, signingKeys: SigningKeys,
    media: MediaStore, clock: CheckedClock, storage: StorageSpace, live: LiveFeed
  ) {
    self.store = store
    self.readModels = readModels
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
    self.storage = storage
    self.live = live
  }

  /// The current time, for decisions, queries and background tasks.
  package var now: @Sendable () -> Timestamp { { [clock] in clock.now } }

  /// The system clock, unchecked.
  package static func now() -> Timestamp {
    Timestamp(milliseconds: Int64((Date().timeIntervalSince1970 * 1000).rounded(.down)))
  }
}

// MARK: - Performing commands

extension ChatService {
  /// A command for which nothing has been looked up yet, except possibly the files that its message attaches.
  package struct Request: Sendable {
    package internal(set) var command: ChatCommand
    /// Keeps the files of the command from being collected until its events are durable.
    var hold: MediaHold?

    package init(
      _ principal: Principal, _ operation: ChatCommand.Operation, command: CommandID? = nil,
      precondition: Precondition? = nil, originalTime: Timestamp? = nil
    ) {
      self.command = ChatCommand(
        context: principal.context(command: command, precondition: precondition, originalTime: originalTime),
        operation: operation, knownAsOf: .latest)
    }
  }

  /// Whether commands are refused until the read models have caught up.
  var writesArePaused: Bool {
    readModels.isBehind(limit: Self.projectionLagLimit, failingLimit: Self.failingLagLimit)
  }

  /// Decides a command and returns when everything behind the response is durable.
  package func perform(_ request: Request) async throws(ServiceError) -> ChatOutcome {
    guard !writesArePaused else { throw .projectionBehind }
    var hold = request.hold
    defer { withExtendedLifetime(hold) {} }
    for _ in 0..<Self.lookupAttempts {
      let command = try await prepare(request)
      // A retry gets the first response, even if the picture has been removed since.
      if hold == nil, !command.wasDoneBefore { hold = try await pictureHold(of: request) }
      let reply: ChatReply
      do {
        reply = try await pipeline.submit(command) { CommandTurn.current?.pass() }
      } catch {
        throw ServiceError(error)
      }
      if case .rejected(let rejection) = reply {
        throw ServiceError(rejection, of: request.command.operation, at: now())
      }
      if let outcome = try take(reply) { return outcome }
    }
    throw .overloaded
  }

  /// The outcome of a reply; nil if the command has to be looked up again.
  func take(_ reply: ChatReply) throws(ServiceError) -> ChatOutcome? {
    switch reply {
    case .done(let outcome):
      gate.take(outcome.events)
      signingKeys.take(outcome.events)
      scheduleObserver.take(outcome.events)
      erasureObserver.take(outcome.events)
      return outcome
    case .rejected(let rejection): throw .rejected(rejection)
    case .outdated: return nil
    }
  }

  /// The position up to which none of the IDs was recorded; nil if one of them may have been.
  func neverSeen(_ lookup: Lookup) -> LogPosition? { knownIDs.neverSeen(lookup) }

  func prepare(_ request: Request) async throws(ServiceError) -> ChatCommand {
    try await prepare([request])[0]
  }

  /// The commands with what is known for them, looked up for all of them at once. An ID that was never seen is not
  /// looked up on the disk.
  func prepare(_ requests: [Request]) async throws(ServiceError) -> [ChatCommand] {
    var commands = requests.map(\.command)
    var asking: [Int] = []
    var lookups: [Lookup] = []
    for index in commands.indices {
      var lookup = commands[index].lookup
      if let asOf = knownIDs.neverSeen(lookup) {
        commands[index].knownAsOf = asOf
        lookup = lookup.withoutIDs
      }
      guard lookup != Lookup() else { continue }
      asking.append(index)
      lookups.append(lookup)
    }
    if !lookups.isEmpty {
      let (known, asOf) = try await failing { [lookups] in try await self.readModels.known(by: lookups) }
      for index in asking {
        let media = commands[index].known.media
        commands[index].known = known
        commands[index].known.media = media
        commands[index].knownAsOf = min(commands[index].knownAsOf, asOf)
      }
    }
    return commands
  }

  /// Runs a query. An error of unknown type becomes a failure of the server.
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
      // The read models close after the writer, so a lookup in between finds them closed.
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
  /// Whether the command is known to have been done before under the same key.
  fileprivate var wasDoneBefore: Bool { lookup.command.map { known.commands[$0] != nil } ?? false }
}
