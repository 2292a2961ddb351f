import Foundation
import Synchronization

/// Standard error, for lines of many threads.
final class LogOutput: Sendable {
  private let handle = Mutex(FileHandle.standardError)

  /// Writes one line at once. A line that cannot be written is lost: there is no other place to report it.
  func write(_ line: String) {
    handle.withLock { try? $0.write(contentsOf: Data(line.utf8)) }
  }
}
