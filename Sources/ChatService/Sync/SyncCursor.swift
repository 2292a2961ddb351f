package import ChatPrimitives

/// What a client keeps between two requests: a position, with proof that it is of this log. A cursor grants nothing, so
/// it is not signed.
///
/// The bytes are the kind (1), a mark of the log (4), the position (1 to 9, as a variable-length integer), and the
/// digest of the record there (4). Inside a response of several pages there follow the target (1 to 9), the part (1),
/// the group (16), the position reached (1 to 9) and the key.
package struct SyncCursor: Sendable, Hashable {
  package static let maximumBytes = 1 + 4 + 9 + 4 + 9 + 1 + UUIDBytes.byteCount + 9 + SyncProgress.keyBytes

  package var position: SyncPosition
  /// The beginning of the SHA-256 of the log's identity.
  package var logMark: UInt32
  /// See `CursorDigest`.
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
  private enum Kind: UInt8 {
    case complete = 1
    case catchingUp = 2
    case initial = 3
    case afterInitial = 4
    case catchingUpAfterInitial = 5

    init(_ stage: SyncPosition.Stage) {
      switch stage {
      case .complete: self = .complete
      case .catchingUp: self = .catchingUp
      case .initial: self = .initial
      case .afterInitial: self = .afterInitial
      case .catchingUpAfterInitial: self = .catchingUpAfterInitial
      }
    }
  }

  var bytes: [UInt8] {
    var bytes = [Kind(position.stage).rawValue] + Self.bigEndian(logMark)
    bytes += Self.variableLength(position.position) + Self.bigEndian(digest)
    if let progress = position.stage.progress {
      bytes += Self.variableLength(progress.target) + [progress.part]
      bytes += (progress.group?.uuid ?? .zero).bytes + Self.variableLength(progress.reached) + progress.key
    }
    return bytes
  }

  init?(bytes: [UInt8]) {
    var rest = bytes[...]
    guard let kind = rest.popFirst().flatMap(Kind.init), let logMark = Self.takeInteger(&rest),
      let position = Self.takePosition(&rest), let digest = Self.takeInteger(&rest)
    else { return nil }
    let stage: SyncPosition.Stage
    switch kind {
    case .complete, .afterInitial:
      guard rest.isEmpty else { return nil }
      stage = kind == .complete ? .complete : .afterInitial
    case .catchingUp, .initial, .catchingUpAfterInitial:
      guard let progress = Self.takeProgress(&rest, from: position) else { return nil }
      switch kind {
      case .catchingUp: stage = .catchingUp(progress)
      case .initial: stage = .initial(progress)
      case .complete, .afterInitial, .catchingUpAfterInitial: stage = .catchingUpAfterInitial(progress)
      }
    }
    self.init(SyncPosition(position, stage), logMark: logMark, digest: digest)
  }

  private static func takeProgress(_ rest: inout ArraySlice<UInt8>, from position: LogPosition) -> SyncProgress? {
    guard let target = takePosition(&rest), target >= position, let part = rest.popFirst(),
      rest.count >= UUIDBytes.byteCount, let group = UUIDBytes(bytes: rest.prefix(UUIDBytes.byteCount))
    else { return nil }
    rest = rest.dropFirst(UUIDBytes.byteCount)
    guard let reached = takePosition(&rest), reached <= target, rest.count <= SyncProgress.keyBytes else { return nil }
    return SyncProgress(
      target: target, part: part, group: group == .zero ? nil : RoomID(group), reached: reached, key: Array(rest))
  }

  private static func bigEndian(_ number: UInt32) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) }
  }

  private static func takeInteger(_ rest: inout ArraySlice<UInt8>) -> UInt32? {
    guard rest.count >= 4 else { return nil }
    defer { rest = rest.dropFirst(4) }
    return rest.prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
  }

  /// Seven bits in each byte, the lowest first (LEB128).
  private static func variableLength(_ position: LogPosition) -> [UInt8] {
    var (left, bytes): (UInt64, [UInt8]) = (position.value, [])
    while left >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: left) | 0x80)
      left >>= 7
    }
    return bytes + [UInt8(truncatingIfNeeded: left)]
  }

  /// Nil unless the number has its shortest form, of at most nine bytes. So it is less than 2^63.
  private static func takePosition(_ rest: inout ArraySlice<UInt8>) -> LogPosition? {
    var value: UInt64 = 0
    for index in 0..<9 as Range<UInt64> {
      guard let byte = rest.popFirst() else { return nil }
      value |= UInt64(byte & 0x7f) << (7 * index)
      if byte < 0x80 { return byte == 0 && index > 0 ? nil : LogPosition(value) }
    }
    return nil
  }
}
