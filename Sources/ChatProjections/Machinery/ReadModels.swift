package import ChatPrimitives
package import EventStore
package import Logging

/// The four read models over one feed.
package final class ReadModels: Sendable {
  package let accounts: ProjectionRunner<AccountsProjection>
  package let rooms: ProjectionRunner<RoomsProjection>
  package let timeline: ProjectionRunner<TimelineProjection>
  package let ids: ProjectionRunner<IDIndexProjection>
  private let feed: any EventFeed

  private init(
    feed: any EventFeed,
    accounts: ProjectionRunner<AccountsProjection>, rooms: ProjectionRunner<RoomsProjection>,
    timeline: ProjectionRunner<TimelineProjection>, ids: ProjectionRunner<IDIndexProjection>
  ) {
    self.feed = feed
    self.accounts = accounts
    self.rooms = rooms
    self.timeline = timeline
    self.ids = ids
  }

  /// Opens or makes the four files in `directory`. Blocks on the disk; applies nothing before `start`.
  /// - Parameter logIdentity: the log's sixteen bytes; a file of another log is put aside.
  package static func open(
    directory: String, feed: any EventFeed, logIdentity: UUIDBytes, logger: Logger
  ) throws -> ReadModels {
    try ReadModels(
      feed: feed,
      accounts: .open(directory: directory, feed: feed, logIdentity: logIdentity, logger: logger),
      rooms: .open(directory: directory, feed: feed, logIdentity: logIdentity, logger: logger),
      timeline: .open(directory: directory, feed: feed, logIdentity: logIdentity, logger: logger),
      ids: .open(directory: directory, feed: feed, logIdentity: logIdentity, logger: logger))
  }

  /// Starts the four threads.
  /// - Parameter onIDsApplied: told how far the ID index has come, so that what the writer keeps over it can be dropped.
  package func start(onIDsApplied: @escaping @Sendable (LogPosition) -> Void = { _ in }) {
    accounts.start()
    rooms.start()
    timeline.start()
    ids.start(onApplied: onIDsApplied)
  }

  /// How many durable events the slowest of them lacks.
  package var maximumLag: UInt64 {
    let slowest = min(accounts.position, rooms.position, timeline.position, ids.position)
    return feed.head.distance(from: slowest)
  }

  /// The first that has halted, if any.
  package var halted: ProjectionHalt? { accounts.halted ?? rooms.halted ?? timeline.halted ?? ids.halted }

  /// Each read model's name and the last event that it has applied.
  package var positions: [(name: String, position: LogPosition)] {
    [
      (AccountsProjection.name, accounts.position), (RoomsProjection.name, rooms.position),
      (TimelineProjection.name, timeline.position), (IDIndexProjection.name, ids.position),
    ]
  }

  /// Returns when all of them have applied `position`.
  /// - Parameter timeoutMilliseconds: for all of them together.
  package func waitForAll(
    _ position: LogPosition, timeoutMilliseconds: Int = ProjectionRunner<AccountsProjection>.defaultTimeoutMilliseconds
  ) async throws(ProjectionBehind) {
    let deadline = ContinuousClock.now + .milliseconds(timeoutMilliseconds)
    func left() -> Int {
      let rest = (deadline - ContinuousClock.now) / .milliseconds(1)
      return max(0, Int(rest.rounded(.up)))
    }
    try await accounts.wait(for: position, timeoutMilliseconds: left())
    try await rooms.wait(for: position, timeoutMilliseconds: left())
    try await timeline.wait(for: position, timeoutMilliseconds: left())
    try await ids.wait(for: position, timeoutMilliseconds: left())
  }

  /// Ends the threads and closes the files. The feed must have been closed before.
  package func close() throws {
    try accounts.stop()
    try rooms.stop()
    try timeline.stop()
    try ids.stop()
  }
}
