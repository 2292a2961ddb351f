/// The place of a record in the log: global, dense, from 1.
public struct LogPosition: Hashable, Sendable, Comparable, Codable {
  public let value: UInt64

  public init(_ value: UInt64) {
    self.value = value
  }

  /// Before the first record: the head of an empty log.
  public static let origin = LogPosition(0)
  /// The first record's place.
  public static let first = LogPosition(1)

  public static func < (left: LogPosition, right: LogPosition) -> Bool { left.value < right.value }

  public var next: LogPosition { LogPosition(value + 1) }

  /// The place `count` records further on.
  public func advanced(by count: Int) -> LogPosition { LogPosition(value + UInt64(count)) }

  /// How many records lie between `origin` and here, `origin` excluded; zero when `origin` is not earlier.
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

/// How many events one stream (one aggregate) holds; the first event makes it 1.
public struct StreamVersion: Hashable, Sendable, Comparable {
  public let value: UInt64

  public init(_ value: UInt64) {
    self.value = value
  }

  /// A stream that has no event yet.
  public static let none = StreamVersion(0)

  public var next: StreamVersion { StreamVersion(value + 1) }

  public static func < (left: StreamVersion, right: StreamVersion) -> Bool { left.value < right.value }
}
