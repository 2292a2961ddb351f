/// The position of a record in the log. Positions are global, begin with 1 and have no gaps.
public struct LogPosition: Hashable, Sendable, Comparable, Codable {
  public let value: UInt64

  public init(_ value: UInt64) {
    self.value = value
  }

  /// The position before the first record, which is the head of an empty log.
  public static let origin = LogPosition(0)
  /// The first record's position.
  public static let first = LogPosition(1)

  public static func < (left: LogPosition, right: LogPosition) -> Bool { left.value < right.value }

  public var next: LogPosition { LogPosition(value + 1) }

  /// The position that is `count` records later.
  public func advanced(by count: Int) -> LogPosition { LogPosition(value + UInt64(count)) }

  /// The number of records after `origin` up to and including this position; zero if `origin` is not earlier.
  public func distance(from origin: LogPosition) -> UInt64 { value > origin.value ? value - origin.value : 0 }

  public init(from decoder: any Decoder) throws {
    value = try decoder.singleValueContainer().decode(UInt64.self)
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(value)
  }
}

extension LogPosition: CustomStringConvertible {
  public var description: String { String(value) }
}

/// The number of events in one stream (one aggregate). The first event makes it 1.
public struct StreamVersion: Hashable, Sendable, Comparable {
  public let value: UInt64

  public init(_ value: UInt64) {
    self.value = value
  }

  /// The version of a stream without events.
  public static let none = StreamVersion(0)

  public var next: StreamVersion { StreamVersion(value + 1) }

  public static func < (left: StreamVersion, right: StreamVersion) -> Bool { left.value < right.value }
}
