import ChatDomain
import ChatPrimitives
import EventLog
import EventStore

/// Formats the statistics of a log.
struct LogStatReport {
  private let statistics: LogStatistics

  init(_ statistics: LogStatistics) {
    self.statistics = statistics
  }

  private var messages: UInt64 { statistics.kinds[EventKind.messageSent]?.records ?? 0 }

  /// Stored bytes of all events divided by the number of messages. Nil if there are no messages.
  private var bytesPerMessage: Double? {
    messages == 0 ? nil : Double(statistics.storedBytes) / Double(messages)
  }

  /// The compression ratio, raw bytes to stored bytes. Nil for an empty log.
  private var ratio: Double? {
    statistics.storedBytes == 0 ? nil : Double(statistics.rawBytes) / Double(statistics.storedBytes)
  }

  /// Shares by type, the most frequent type first.
  private var shares: [(name: String, share: LogStatistics.Share)] {
    statistics.kinds
      .map { (EventKind(number: $0.key)?.name ?? "kind \($0.key)", $0.value) }
      .sorted { ($1.1.records, $0.0) < ($0.1.records, $1.0) }
  }

  var json: JSONValue {
    .object([
      ("events", .number(statistics.records)),
      ("messages", .number(messages)),
      ("segments", .count(statistics.segments)),
      ("sealedSegments", .count(statistics.sealedSegments)),
      ("blocks", .count(statistics.blocks)),
      ("storedBytes", .number(statistics.storedBytes)),
      ("rawBytes", .number(statistics.rawBytes)),
      ("bytesPerMessage", bytesPerMessage.map(JSONValue.decimal) ?? .null),
      ("compressionRatio", ratio.map(JSONValue.decimal) ?? .null),
      ("head", .number(statistics.head.value)),
      ("identity", .text(statistics.identity.description)),
      ("eventsByType", .object(shares.map { ($0.name, .number($0.share.records)) })),
    ])
  }

  var lines: [String] {
    let figures = TextTable.lines(
      [.left("LOG"), .left(statistics.identity.description)],
      [
        ["head", Quantity.count(statistics.head.value)],
        ["events", Quantity.count(statistics.records)],
        ["messages", Quantity.count(messages)],
        ["segments", Quantity.count(statistics.segments)],
        ["of them sealed", Quantity.count(statistics.sealedSegments)],
        ["blocks", Quantity.count(statistics.blocks)],
        ["stored", Quantity.bytes(statistics.storedBytes)],
        ["raw", Quantity.bytes(statistics.rawBytes)],
        ["compression", ratio.map { "\(Quantity.decimal($0, digits: 2)) : 1" } ?? "-"],
        ["bytes per message", bytesPerMessage.map { Quantity.decimal($0, digits: 1) } ?? "-"],
      ])
    if shares.isEmpty { return figures }
    let types = TextTable.lines(
      [.left("TYPE"), .right("COUNT"), .right("SHARE"), .right("RAW BYTES"), .right("EACH")],
      shares.map { name, share in
        [
          name, Quantity.count(share.records), Quantity.share(share.records, of: statistics.records),
          Quantity.count(share.rawBytes), Quantity.decimal(Double(share.rawBytes) / Double(share.records), digits: 1),
        ]
      })
    return figures + [""] + types
  }
}
