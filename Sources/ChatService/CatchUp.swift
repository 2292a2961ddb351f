package import ChatPrimitives
package import ChatProjections
package import Logging

/// Waits until read models can be read as of a position, however long that takes: a disk that is slow, full or failing
/// is reported, and their runners try again.
package struct CatchUp: Sendable {
  /// How long the slowest read model makes no progress before that is reported, each time.
  package static let defaultPatience = Duration.seconds(60)
  /// Between two looks at how far they are.
  private static let lookInterval = Duration.milliseconds(20)

  private let report: String
  private let patience: Duration
  private let logger: Logger

  /// - Parameters:
  ///   - report: the warning that says who makes no progress, and what to do.
  ///   - patience: how long there is no progress before each warning.
  package init(reporting report: String, after patience: Duration = CatchUp.defaultPatience, logger: Logger) {
    self.report = report
    self.patience = patience
    self.logger = logger
  }

  /// - Parameters:
  ///   - head: the position.
  ///   - standings: the current standing of each read model, one at least.
  ///   - progress: told how far they are, each time that some of them cannot be read as of the position.
  /// - Throws: `OpeningError.halted` when one of them has halted, and `CancellationError`.
  package func wait(
    for head: LogPosition, standings: @Sendable () -> [ProjectionStanding],
    progress: @Sendable (OpeningProgress) -> Void = { _ in }
  ) async throws {
    var reached: LogPosition?
    var idleSince = ContinuousClock.now
    while true {
      let current = standings()
      if let halt = current.compactMap(\.fault).first(where: { $0.kind == .permanent }) {
        throw OpeningError.halted(halt)
      }
      let now = OpeningProgress(current, of: head)
      if now.isComplete { return }
      progress(now)
      if now.slowest.position != reached {
        reached = now.slowest.position
        idleSince = ContinuousClock.now
      } else if ContinuousClock.now - idleSince > patience {
        idleSince = ContinuousClock.now
        logger.warning("\(report)", metadata: ["progress": "\(now)"])
      }
      try await Task.sleep(for: Self.lookInterval)
    }
  }
}
