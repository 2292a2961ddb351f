package import ChatPrimitives
package import ChatProjections
package import Logging

/// Waits until read models have applied a position and can be read, however long that takes. If a slow, full or failing
/// disk stops their progress, a warning is logged, and their runners try again.
package struct CatchUp: Sendable {
  /// How long the slowest read model may make no progress before each warning.
  package static let defaultWarningInterval = Duration.seconds(60)
  /// The time between two checks of their progress.
  private static let checkInterval = Duration.milliseconds(20)

  private let report: String
  private let warningInterval: Duration
  private let logger: Logger

  /// - Parameters:
  ///   - report: the warning: what makes no progress, and what to do.
  ///   - warningInterval: how long there may be no progress before each warning.
  package init(
    reporting report: String, after warningInterval: Duration = CatchUp.defaultWarningInterval, logger: Logger
  ) {
    self.report = report
    self.warningInterval = warningInterval
    self.logger = logger
  }

  /// - Parameters:
  ///   - head: the position to wait for.
  ///   - statuses: gives the current status of each read model, at least one.
  ///   - progress: called at each check until the wait is over.
  /// - Throws: `OpeningError.halted` if one of them has halted, and `CancellationError`.
  package func wait(
    for head: LogPosition, statuses: @Sendable () -> [ProjectionStatus],
    progress: @Sendable (OpeningProgress) -> Void = { _ in }
  ) async throws {
    var reached: LogPosition?
    var idleSince = ContinuousClock.now
    while true {
      let current = statuses()
      if let halt = current.compactMap(\.fault).first(where: { $0.kind == .permanent }) {
        throw OpeningError.halted(halt)
      }
      let now = OpeningProgress(current, of: head)
      if now.isComplete { return }
      progress(now)
      if now.slowest.position != reached {
        reached = now.slowest.position
        idleSince = ContinuousClock.now
      } else if ContinuousClock.now - idleSince > warningInterval {
        idleSince = ContinuousClock.now
        logger.warning("\(report)", metadata: ["progress": "\(now)"])
      }
      try await Task.sleep(for: Self.checkInterval)
    }
  }
}
