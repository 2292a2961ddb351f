package import ChatPrimitives
private import Glibc

/// The options for writing a log. Reading needs none of them.
package struct LogOptions: Sendable {
  /// Half of the maximum of the format, in bytes, because sealing a segment that does not compress adds its sections.
  package static let maximumSegmentBytes = LogFormat.maximumSegmentBytes / 2
  package static let defaultSegmentBytes = 64 * 1024 * 1024

  /// The length of a new segment, in bytes. A longer block gets a segment that is long enough for it.
  package var segmentBytes: Int
  /// Whether a separate thread fills the next segment with zeros while the current one fills up. Otherwise the writer
  /// waits for that.
  package var preparesAhead: Bool
  /// Whether a separate thread seals full segments. Otherwise `sealNext` seals them.
  package var sealsInBackground: Bool
  /// Called on that thread with the reason if a segment could not be sealed. The next full segment triggers a retry.
  package var onSealingFailure: @Sendable (LogError) -> Void
  /// Called on the writer's thread after each block, with the time that its sync took.
  package var onSync: @Sendable (Duration) -> Void = { _ in }
  /// Called when a segment was sealed, with the time that it took.
  package var onSealed: @Sendable (Duration) -> Void = { _ in }
  /// The clock for creation times and for the file names of torn tails.
  package var now: @Sendable () -> Timestamp
  /// The source of random bits for the identity, the salts and the key that signs tree heads.
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
  /// An end of the log that was never acknowledged and is not intact.
  package struct TornTail: Sendable, Hashable {
    /// The number of bytes that were cut off.
    package var bytes: Int
    /// The name of the file in `log/` to which they were saved.
    package var savedAs: String
    /// The segment that held the bytes.
    package var segment: String
    package var offset: UInt64
    /// The position that the first of their records would have had.
    package var position: LogPosition
    /// The reason: the check that failed.
    package var reason: String
  }

  /// Whether opening created the log.
  package var created: Bool
  /// The last durable position after opening.
  package var head: LogPosition
  /// The superblock's durable position before opening.
  package var superblockHead: LogPosition
  package var tornTail: TornTail?
}
