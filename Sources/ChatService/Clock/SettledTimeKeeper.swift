import ChatPrimitives
import Foundation
import Logging
import Synchronization

/// Saves the settled time (`TrustedTime.settled`) in a file of the data directory: one line, RFC 3339.
///
/// Without the file a restart knows only the log's last time, which a wrong clock may have written.
final class SettledTimeKeeper: Sendable {
  /// The file's name in the data directory.
  static let fileName = "clock"

  private struct State {
    var kept: Timestamp?
    /// Used to report a failure only once.
    var hasFailed = false
  }

  private let path: String
  private let logger: Logger
  private let state: Mutex<State>

  init(directory: String, logger: Logger) {
    path = directory + "/" + Self.fileName
    self.logger = logger
    let text = try? String(contentsOfFile: path, encoding: .utf8)
    let kept = text.flatMap { Timestamp(rfc3339: $0.trimmingCharacters(in: .whitespacesAndNewlines)) }
    if text != nil, kept == nil {
      logger.warning(
        "the file with the last known time is damaged; the server writes it again", metadata: ["file": "\(path)"])
    }
    state = Mutex(State(kept: kept))
  }

  /// The saved time; nil if none was ever saved.
  var kept: Timestamp? { state.withLock { $0.kept } }

  /// Does nothing while the time is close to the saved one. If the file cannot be written, the server continues, and
  /// the next call tries again.
  func keep(_ settled: Timestamp) {
    if let kept, abs(settled.milliseconds - kept.milliseconds) < Limits.clockKeptMilliseconds { return }
    do throws(KeyFileError) {
      try PrivateFile.write("\(settled)\n", to: path)
      state.withLock { $0 = State(kept: settled) }
    } catch {
      let isFirst = state.withLock { state in
        defer { state.hasFailed = true }
        return !state.hasFailed
      }
      guard isFirst else { return }
      logger.error(
        """
        the last known time cannot be saved. If the server is restarted with a wrong clock, it may send scheduled \
        messages too early. Check the disk; the server tries again
        """,
        metadata: ["file": "\(path)", "reason": "\(error.reason)"])
    }
  }
}
