import ChatPrimitives

/// The UUIDs of a sealed segment that its columns refer to by number.
struct UUIDTable: Sendable {
  /// The UUIDs one after the other, in network order.
  private let bytes: [UInt8]

  init(parsing bytes: [UInt8]) throws(FormatFlaw) {
    guard bytes.count % UUIDBytes.byteCount == 0 else { throw FormatFlaw("the table of UUIDs is cut short") }
    self.bytes = bytes
  }

  var count: Int { bytes.count / UUIDBytes.byteCount }

  /// Nil beyond the end.
  subscript(number: Int) -> UUIDBytes? {
    // The number is checked against the count, so the product stays within the array.
    guard number >= 0, number < count else { return nil }
    return bytes.span.bytes.uuid(at: number * UUIDBytes.byteCount)
  }

  /// The numbers of the given UUIDs that are in the table.
  func numbers(of uuids: Set<UUIDBytes>) -> [Int: UUIDBytes] {
    var numbers: [Int: UUIDBytes] = [:]
    for number in 0..<count {
      if let uuid = self[number], uuids.contains(uuid) { numbers[number] = uuid }
    }
    return numbers
  }

  /// The number of each UUID; nil if a UUID occurs twice in the table.
  var distinctNumbers: [UUIDBytes: Int]? {
    var numbers: [UUIDBytes: Int] = [:]
    numbers.reserveCapacity(count)
    for number in 0..<count {
      guard let uuid = self[number], numbers.updateValue(number, forKey: uuid) == nil else { return nil }
    }
    return numbers
  }
}

/// Counts the UUIDs of a segment, to choose which get a number.
struct UUIDCensus {
  private struct Tally {
    var uses: UInt32 = 0
    var isStream = false
  }

  /// A UUID with at least this many uses is cheaper to refer to than to repeat.
  private static let usesForNumber: UInt32 = 2

  private var tallies: [UUIDBytes: Tally] = [:]

  mutating func count(_ envelope: RecordEnvelope) {
    tallies[envelope.stream, default: Tally()].isStream = true
    envelope.forEachUUID { uuid in tallies[uuid, default: Tally()].uses &+= 1 }
  }

  /// The table, most frequent UUIDs first, and the number of each entry.
  func table() -> (bytes: [UInt8], numbers: [UUIDBytes: Int]) {
    let chosen =
      tallies
      .filter { $0.value.isStream || $0.value.uses >= Self.usesForNumber }
      .sorted {
        ($1.value.uses, $0.key.high, $0.key.low) < ($0.value.uses, $1.key.high, $1.key.low)
      }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(chosen.count * UUIDBytes.byteCount)
    var numbers: [UUIDBytes: Int] = [:]
    numbers.reserveCapacity(chosen.count)
    for (number, entry) in chosen.enumerated() {
      bytes.append(contentsOf: entry.key.bytes)
      numbers[entry.key] = number
    }
    return (bytes, numbers)
  }
}

extension RecordEnvelope {
  /// Calls `body` with every UUID of the envelope, in the order of the columns.
  func forEachUUID(_ body: (UUIDBytes) -> Void) {
    body(stream)
    for uuid in [actor, service, device, subject, command] {
      if let uuid { body(uuid) }
    }
  }
}
