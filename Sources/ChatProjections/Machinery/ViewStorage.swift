import Foundation
import Synchronization

/// What a read model takes on the disk, and how its write-ahead log is copied into its file.
package struct ViewStorage: Sendable, Hashable {
  package let name: String
  /// The size of the file in bytes; 0 if there is none.
  package let fileBytes: Int
  /// The size of its write-ahead log in bytes; 0 if there is none.
  package let walBytes: Int
  /// The passes that another thread than the writer has made since the file was opened.
  package let checkpointsBeside: Int
  /// The passes that the writer has made since then.
  package let checkpointsByWriter: Int
  /// How many of the passes beside the writer could not copy the whole log.
  package let checkpointsIncomplete: Int
}

extension ProjectionRunner {
  /// Blocks for as long as the file system takes to look up two files.
  package var storage: ViewStorage {
    let counts = state.withLock { $0.checkpoints }?.counts ?? BackgroundCheckpoints.Counts()
    return ViewStorage(
      name: P.name, fileBytes: opening.file.bytes, walBytes: opening.file.walBytes, checkpointsBeside: counts.beside,
      checkpointsByWriter: counts.byWriter, checkpointsIncomplete: counts.incomplete)
  }
}

extension ProjectionFile {
  fileprivate var bytes: Int { Self.size(path) }
  fileprivate var walBytes: Int { Self.size(path + "-wal") }

  private static func size(_ path: String) -> Int {
    let attributes = try? FileManager.default.attributesOfItem(atPath: path)
    return (attributes?[.size] as? NSNumber)?.intValue ?? 0
  }
}
