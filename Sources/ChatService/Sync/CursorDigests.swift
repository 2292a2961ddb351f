package import ChatPrimitives
import Crypto
import DequeModule
package import EventLog
import Synchronization

/// Makes the cursors of one log, and checks those that clients send.
///
/// A cursor has a digest of the record at its position. After a restore from a backup, a log can continue with other
/// records under the same positions; then the digest differs. It is taken from the record's envelope, whose bytes never
/// change, not even when the payload is erased.
package final class CursorDigests: Sendable {
  /// The number of digests that are kept, so that many clients that come back with the same position read a block once.
  package static let kept = 4_096

  private let log: any BlockSource
  private let logMark: UInt32
  private let cache = Mutex(Cache())

  private struct Cache {
    var digests: [LogPosition: UInt32] = [:]
    var order: Deque<LogPosition> = []
  }

  package init(_ log: any BlockSource) {
    self.log = log
    logMark = UInt32(firstBytesOf: SHA256.hash(data: log.identity.bytes.bytes))
  }

  /// Reads from the disk if the digest is not kept, so do not call it on the cooperative thread pool.
  /// - Parameter position: a position in this log.
  package func cursor(at position: SyncPosition) throws -> SyncCursor {
    SyncCursor(position, logMark: logMark, digest: try digest(at: position.position))
  }

  /// The same, but nil if the digest is not kept. Reads nothing.
  package func keptCursor(at position: SyncPosition) -> SyncCursor? {
    keptDigest(at: position.position).map { SyncCursor(position, logMark: logMark, digest: $0) }
  }

  /// Reads from the disk if the digest is not kept, so do not call it on the cooperative thread pool.
  /// - Throws: `SyncCursorError`, or an error of the log.
  package func position(of text: String) throws -> SyncPosition {
    guard let cursor = SyncCursor(text: text) else { throw SyncCursorError.invalid }
    let position = cursor.position
    let last = position.stage.progress?.target ?? position.position
    guard cursor.logMark == logMark, last <= log.head, try digest(at: position.position) == cursor.digest else {
      throw SyncCursorError.unknown
    }
    return position
  }

  private func keptDigest(at position: LogPosition) -> UInt32? {
    position == .origin ? 0 : cache.withLock { $0.digests[position] }
  }

  private func digest(at position: LogPosition) throws -> UInt32 {
    if let kept = keptDigest(at: position) { return kept }
    let block = try log.block(containing: position)
    let record = block.records[Int(position.value - block.first.value)]
    let digest = UInt32(firstBytesOf: SHA256.hash(data: record.envelope.encoded()))
    cache.withLock { cache in
      guard cache.digests.updateValue(digest, forKey: position) == nil else { return }
      cache.order.append(position)
      if cache.order.count > Self.kept { cache.digests[cache.order.removeFirst()] = nil }
    }
    return digest
  }
}

/// Why a client's cursor cannot be used.
package enum SyncCursorError: Error, Hashable {
  /// It is not a cursor of this server.
  case invalid
  /// It is of another log, or of a position that this log does not have.
  case unknown
}
