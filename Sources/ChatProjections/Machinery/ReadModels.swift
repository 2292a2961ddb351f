package import ChatPrimitives
package import EventStore
package import Logging
import Synchronization

/// The read models over one feed, one for each projection in `Projections.all`. Each projection's folder declares a
/// property for its read model.
package final class ReadModels: Sendable {
  let all: [any LogFollower]
  /// The read models that requests wait for. Every command checks how far they are behind.
  private let awaited: [any LogFollower]
  let feed: any EventFeed
  private let directory: String

  private init(_ all: [any LogFollower], feed: any EventFeed, directory: String) {
    self.all = all
    self.directory = directory
    awaited = all.filter(\.isAwaited)
    self.feed = feed
  }

  /// Opens or creates the files in `directory`. Blocks on the disk; applies nothing before `start`.
  /// - Parameter logIdentity: the log's sixteen bytes; a file of another log is moved aside.
  package static func open(
    directory: String, feed: any EventFeed, logIdentity: UUIDBytes, logger: Logger
  ) throws -> ReadModels {
    func follower<P: Projection>(_ projection: P.Type) throws -> any LogFollower {
      try ProjectionRunner<P>.open(directory: directory, feed: feed, logIdentity: logIdentity, logger: logger)
    }
    return ReadModels(try Projections.all.map { try follower($0) }, feed: feed, directory: directory)
  }

  /// The read model of a projection, which must be in `Projections.all`.
  subscript<P: Projection>(_ projection: P.Type) -> ProjectionRunner<P> {
    for case let runner as ProjectionRunner<P> in all { return runner }
    preconditionFailure("the projection \(P.name) is not in Projections.all")
  }

  /// Starts a thread for each.
  /// - Parameter onApplied: receives the position that all read models needed to look up commands have applied, so that
  ///   the writer can drop what it keeps in memory up to there.
  package func start(onApplied: @escaping @Sendable (LogPosition) -> Void = { _ in }) {
    let lookups: [any LogFollower] = [ids, accounts, rooms]
    for follower in all {
      let isLookup = lookups.contains { $0 === follower }
      follower.start { [weak self] _ in
        self?.releaseApplied()
        if isLookup, let position = lookups.map(\.position).min() { onApplied(position) }
      }
    }
  }

  /// Lets the feed drop events that every follower has applied. A follower with a fault does not count: when it
  /// continues, it reads from the disk.
  private func releaseApplied() {
    let following = all.lazy.filter { $0.followingFault == nil }.map(\.position)
    if let position = following.min() { feed.release(through: position) }
  }

  /// The number of durable events that the slowest of the read models that requests wait for has not applied.
  package var maximumLag: UInt64 {
    let head = feed.head
    return awaited.reduce(0) { max($0, head.distance(from: $1.position)) }
  }

  /// Whether a read model that requests wait for is so many events behind that writes should pause.
  ///
  /// For one that is being rebuilt, only events after the head at which the rebuild began count, because pausing writes
  /// for the whole rebuild would help nobody.
  /// - Parameters:
  ///   - limit: how many events one may be behind while it follows or is being rebuilt.
  ///   - failingLimit: how many events one may be behind while it cannot be written.
  package func isBehind(limit: UInt64, failingLimit: UInt64) -> Bool {
    let head = feed.head
    return awaited.contains { $0.isBehind(head, limit: limit, failingLimit: failingLimit) }
  }

  /// The fault of the first read model that has halted, among those that requests wait for.
  package var halted: ProjectionFault? { awaited.lazy.compactMap(\.halted).first }

  /// The status of each read model that requests wait for.
  package var statuses: [ProjectionStatus] { awaited.map(\.status) }

  /// The status of each read model from which the deciders' state is restored.
  package var decisionStatuses: [ProjectionStatus] {
    all.filter { follower in Projections.ofDecisions.contains { $0.name == follower.name } }.map(\.status)
  }

  /// The status of each read model that no request waits for.
  package var optionalStatuses: [ProjectionStatus] { all.filter { !$0.isAwaited }.map(\.status) }

  /// What each read model takes on the disk.
  package var storages: [ViewStorage] { all.map(\.storage) }

  /// The time between two checks whether a rebuild is running, in milliseconds.
  private static let rebuildPauseMilliseconds = 100

  /// Returns when all read models, awaited or not, have applied `position`, and no rebuild is running. The file of a
  /// rebuild can contain rows that were removed at an event that it has not reached yet.
  /// - Parameter timeoutMilliseconds: the total for all of them.
  package func waitForAll(
    _ position: LogPosition, timeoutMilliseconds: Int = ProjectionRunner<AccountsProjection>.defaultTimeoutMilliseconds
  ) async throws(ProjectionBehind) {
    let deadline = ContinuousClock.now + .milliseconds(timeoutMilliseconds)
    for follower in all {
      while follower.isReplacing {
        // Ends early if the task is cancelled.
        try? await Task.sleep(for: .milliseconds(Self.rebuildPauseMilliseconds))
        guard !Task.isCancelled, ContinuousClock.now < deadline else {
          throw ProjectionBehind(
            projection: follower.name, wanted: position, reached: follower.position,
            reason: Task.isCancelled ? .cancelled : .timedOut)
        }
      }
      let rest = (deadline - ContinuousClock.now) / .milliseconds(1)
      try await follower.wait(for: position, timeoutMilliseconds: max(0, Int(rest.rounded(.up))))
    }
  }

  /// Truncates the write-ahead logs of all files, which contain earlier versions of the rows.
  /// - Returns: false if a reader or a rebuild prevented it, or if the search index still has removed words. Call it again.
  package func emptyWriteAheadLogs() async throws -> Bool {
    // A rebuild may have replaced the index since the caller has asked.
    var areEmpty = try await search.read { try $0.isClean() }
    for follower in all where try await !follower.emptyWriteAheadLog() { areEmpty = false }
    return areEmpty
  }

  /// Removes the files of other schema versions, and those that were moved aside. Call it when `waitForAll` has returned.
  /// An earlier version of the server builds its files again.
  /// - Parameters:
  ///   - projections: those whose files can be in the directory.
  ///   - closed: those of them that this server does not run, so that their current files are not in use either.
  package func removeUnusedFiles(
    of projections: [any Projection.Type], closed: [any Projection.Type] = []
  ) throws {
    try UnusedFiles(in: directory, of: projections, closed: closed).remove()
  }

  /// Stops the threads and closes the files. Stops every read model even if one fails, and throws the first error.
  package func close() throws {
    var failure: (any Error)?
    for follower in all {
      do {
        try follower.stop()
      } catch {
        failure = failure ?? error
      }
    }
    if let failure { throw failure }
  }
}

/// A read model that follows the log, without the type of its queries.
protocol LogFollower: AnyObject, Sendable {
  var name: String { get }
  /// See `Projection.isAwaited`.
  var isAwaited: Bool { get }
  /// The last event that it has applied.
  var position: LogPosition { get }
  var halted: ProjectionFault? { get }
  var followingFault: ProjectionFault? { get }
  var status: ProjectionStatus { get }
  var storage: ViewStorage { get }

  func isBehind(_ head: LogPosition, limit: UInt64, failingLimit: UInt64) -> Bool

  func start(onApplied: @escaping @Sendable (LogPosition) -> Void)
  func wait(for position: LogPosition, timeoutMilliseconds: Int) async throws(ProjectionBehind)
  func emptyWriteAheadLog() async throws -> Bool
  func stop() throws

  var schemaVersion: Int { get }
  var rebuildStatus: ViewRebuildStatus? { get }
  var isReplacing: Bool { get }
  func startRebuild() throws(ProjectionBehind)
  func cancelRebuild()
}

extension ProjectionRunner: LogFollower {
  var name: String { P.name }
  var isAwaited: Bool { P.isAwaited }
  var schemaVersion: Int { P.schemaVersion }

  func isBehind(_ head: LogPosition, limit: UInt64, failingLimit: UInt64) -> Bool {
    state.withLock { state in
      let isFailing = state.fault.map { $0.kind != .damaged } ?? (state.pool == nil)
      return head.distance(from: max(state.position, state.readableFrom)) > (isFailing ? failingLimit : limit)
    }
  }
}
