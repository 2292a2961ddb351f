package import ChatPrimitives
private import Glibc

/// How a log is written. None of it is needed to read.
package struct LogOptions: Sendable {
  /// Half of what the format allows, in bytes: what does not compress grows when it is sealed, by its sections.
  package static let maximumSegmentBytes = LogFormat.maximumSegmentBytes / 2
  package static let defaultSegmentBytes = 64 * 1024 * 1024

  /// Length of a new segment, in bytes; a block that is longer gets a segment of its own length.
  package var segmentBytes: Int
  /// Whether the next segment is filled with zeros by a thread of its own while the one before fills up. Without, the
  /// writer waits for it.
  package var preparesAhead: Bool
  /// Whether full segments are sealed by a thread of their own. Without, `sealNext` does it.
  package var sealsInBackground: Bool
  /// Told, on that thread, why a segment was not sealed. It is tried again with the next full segment.
  package var onSealingFailure: @Sendable (LogError) -> Void
  /// The clock for creation times and for the names of torn tails.
  package var now: @Sendable () -> Timestamp
  /// Random bits for the identity, the salts and the key that signs tree heads.
  package var random: @Sendable () -> UInt64

  package init(
    segmentBytes: Int = LogOptions.defaultSegmentBytes, preparesAhead: Bool = true,
    sealsInBackground: Bool = true, onSealingFailure: @escaping @Sendable (LogError) -> Void = { _ in },
    now: @escaping @Sendable () -> Timestamp = LogOptions.systemTime,
    random: @escaping @Sendable () -> UInt64 = { UInt64.random(in: .min ... .max) }
  ) {
    self.segmentBytes = segmentBytes
    self.preparesAhead = preparesAhead
    self.sealsInBackground = sealsInBackground
    self.onSealingFailure = onSealingFailure
    self.now = now
    self.random = random
  }

  package static let systemTime: @Sendable () -> Timestamp = {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Timestamp(milliseconds: Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000)
  }

  func check() throws(LogError) {
    guard segmentBytes >= LogFormat.minimumSegmentBytes, segmentBytes <= Self.maximumSegmentBytes else {
      throw LogError(
        .tooLarge,
        "A segment has \(LogFormat.minimumSegmentBytes) to \(Self.maximumSegmentBytes) bytes, not \(segmentBytes)."
      )
    }
  }
}

/// What opening a log found and did.
package struct RecoveryReport: Sendable, Hashable {
  /// An end that was never acknowledged and is not intact.
  package struct TornTail: Sendable, Hashable {
    /// How many bytes were cut.
    package var bytes: Int
    /// Name of the file in `log/` that keeps them.
    package var savedAs: String
    /// Where they stood.
    package var segment: String
    package var offset: UInt64
    /// The position at which the first of their records would have stood.
    package var position: LogPosition
    /// Which check failed.
    package var reason: String
  }

  /// Whether there was no log before.
  package var created: Bool
  /// The last durable position after opening.
  package var head: LogPosition
  /// The superblock's durable position before opening.
  package var superblockHead: LogPosition
  package var tornTail: TornTail?
}
