package import ChatPrimitives
import EventLog

/// What a client keeps between two requests: a position, with proof that it is of this log. A cursor grants nothing, so
/// it is not signed.
///
/// The bytes are the kind (1), a mark of the log (4), the position (1 to 9, as a variable-length integer), and the
/// digest of the record there (4). Inside a response of several pages there follow the target (1 to 9), the part (1),
/// the group (two rooms of 16), the position reached (1 to 9) and the key.
package struct SyncCursor: Sendable, Hashable {
  package static let maximumBytes = 1 + 4 + 9 + 4 + 9 + 1 + 2 * UUIDBytes.byteCount + 9 + SyncProgress.keyBytes

  package var position: SyncPosition
  /// The beginning of the SHA-256 of the log's identity.
  package var logMark: UInt32
  /// The beginning of the SHA-256 of the record's envelope at the position; zero at the log's origin.
  package var digest: UInt32

  package init(_ position: SyncPosition, logMark: UInt32, digest: UInt32) {
    self.position = position
    self.logMark = logMark
    self.digest = digest
  }
}

// MARK: - Text

extension SyncCursor {
  package var text: String { Base64URL.encode(bytes) }

  /// Nil if the text is not exactly what `text` returns for some cursor.
  package init?(text: some StringProtocol) {
    guard let bytes = Base64URL.decode(text, atMost: Self.maximumBytes) else { return nil }
    self.init(bytes: bytes)
  }
}

// MARK: - Bytes

extension SyncCursor {
  var bytes: [UInt8] {
    var bytes = [Self.kind(of: position.stage)] + withUnsafeBytes(of: logMark.bigEndian) { Array($0) }
    bytes.append(variable: position.position.value)
    bytes += withUnsafeBytes(of: digest.bigEndian) { Array($0) }
    if let progress = position.stage.progress {
      bytes.append(variable: progress.target.value)
      bytes.append(progress.part)
      for room in [progress.group.previous, progress.group.last] { bytes += (room?.uuid ?? .zero).bytes }
      bytes.append(variable: progress.reached.value)
      bytes += progress.key
    }
    return bytes
  }

  /// Nil if `bytes` are not exactly those of some cursor.
  init?(bytes: [UInt8]) {
    var rest = ByteCursor(bytes)
    guard let kind = try? rest.array(1)[0], let logMark = try? rest.array(4), let position = Self.position(&rest),
      let digest = try? rest.array(4), let stage = Self.stage(kind, &rest, from: position), rest.isAtEnd
    else { return nil }
    self.init(
      SyncPosition(position, stage), logMark: UInt32(firstBytesOf: logMark), digest: UInt32(firstBytesOf: digest))
  }

  private static func kind(of stage: SyncPosition.Stage) -> UInt8 {
    switch stage {
    case .complete: 1
    case .catchingUp: 2
    case .initial: 3
    }
  }

  private static func stage(
    _ kind: UInt8, _ rest: inout ByteCursor, from position: LogPosition
  ) -> SyncPosition.Stage? {
    switch kind {
    case 1: .complete
    case 2: progress(&rest, from: position).map { .catchingUp($0) }
    case 3: progress(&rest, from: position).map { .initial($0) }
    default: nil
    }
  }

  /// Takes all that is left.
  private static func progress(_ rest: inout ByteCursor, from position: LogPosition) -> SyncProgress? {
    guard let target = Self.position(&rest), target >= position, let part = try? rest.array(1)[0],
      let previous = uuid(&rest), let last = uuid(&rest), let reached = Self.position(&rest), reached <= target,
      rest.remaining <= SyncProgress.keyBytes,
      let key = try? rest.array(rest.remaining)
    else { return nil }
    let group = SyncGroup(
      previous: previous == .zero ? nil : RoomID(previous), last: last == .zero ? nil : RoomID(last))
    return SyncProgress(target: target, part: part, group: group, reached: reached, key: key)
  }

  private static func uuid(_ rest: inout ByteCursor) -> UUIDBytes? {
    (try? rest.array(UUIDBytes.byteCount)).flatMap { UUIDBytes(bytes: $0) }
  }

  /// Positions are less than 2^63, so they take at most nine bytes.
  private static func position(_ rest: inout ByteCursor) -> LogPosition? {
    guard let value = try? rest.variable(), value <= Int64.max else { return nil }
    return LogPosition(value)
  }
}

extension UInt32 {
  /// The number in the first four bytes, big-endian.
  init(firstBytesOf bytes: some Sequence<UInt8>) {
    self = bytes.prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
  }
}
