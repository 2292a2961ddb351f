/// The space on the file systems of the server's data, for operators.
package struct StorageStatus: Sendable, Hashable {
  package enum Level: String, Sendable {
    case ok
    /// Less than the operator wants.
    case low
    /// Not enough for the next segment of the log, or for another file.
    case full
  }

  /// A directory of the server's data. Each can be on a file system of its own.
  package enum Part: String, Sendable, CaseIterable {
    /// The data directory itself, with the keys and the clock.
    case data
    case log, views, media
  }

  /// The space that one part has.
  package struct Space: Sendable, Hashable {
    package var part: Part
    package var directory: String
    package var level: Level
    /// The bytes that the server can still write there.
    package var freeBytes: UInt64
  }

  /// One for each part whose directory exists, in the order of `Part`.
  package var spaces: [Space]

  /// The part with the least space; nil if nothing could be measured.
  package var least: Space? { spaces.min { $0.isWorse(than: $1) } }
  package var level: Level { least?.level ?? .ok }
  package var freeBytes: UInt64 { least?.freeBytes ?? .max }

  /// The parts with this level.
  package func parts(_ level: Level) -> [Part] { spaces.filter { $0.level == level }.map(\.part) }

  /// What fails on the full file systems, in sentences; empty if none is full.
  package var failures: String { parts(.full).map(\.failure).joined(separator: " ") }
}

extension StorageStatus.Space {
  fileprivate func isWorse(than other: Self) -> Bool {
    // A file system without free files is full, however many bytes it has.
    if (level == .full) != (other.level == .full) { return level == .full }
    return freeBytes < other.freeBytes
  }
}

extension StorageStatus.Part {
  fileprivate var failure: String {
    switch self {
    case .data: "The server may not start again."
    case .log:
      """
      When the next segment of the event log is due, or a write fails, the server accepts no more writes until it is \
      restarted.
      """
    case .views: "Read models cannot follow the log; once they are too far behind, writes are rejected."
    case .media: "Uploads are rejected."
    }
  }

  /// What is written there.
  var contents: String {
    switch self {
    case .data: "the server's keys"
    case .log: "the event log"
    case .views: "read models"
    case .media: "uploads"
    }
  }
}
