import ChatPrimitives
import EventLog

/// Scans a log once, from the first block that can contain a matching record to the last.
struct AuditScan {
  let source: any BlockSource
  let filter: AuditFilter

  /// Calls `body` for each row that passes the filter, in log order. The time and stream indexes of sealed segments let
  /// the scan skip blocks without matches.
  func forEach(_ body: (AuditRow) throws -> Void) throws {
    let head = source.head
    let last = min(filter.last ?? head, head)
    var position = max(filter.first, try filter.since.map { try source.start(notBefore: $0) } ?? .first)
    if let room = filter.room {
      var blocks = StreamBlocks(source, stream: room.uuid, from: position, through: last)
      while let block = try blocks.next() {
        guard try show(block, from: position, through: last, body) else { return }
      }
      return
    }
    while position <= last {
      let block = try source.block(containing: position)
      guard try show(block, from: position, through: last, body) else { return }
      position = block.last.next
    }
  }

  /// - Returns: false if all later records are after `until`, because recorded time never decreases.
  private func show(
    _ block: Block, from first: LogPosition, through last: LogPosition, _ body: (AuditRow) throws -> Void
  ) throws -> Bool {
    for record in block.records where record.position >= first && record.position <= last {
      guard filter.admits(record.envelope) else { continue }
      let row = try AuditRow(record)
      if filter.admits(row) { try body(row) }
    }
    guard let until = filter.until, let time = block.records.last?.envelope.time else { return true }
    return time <= until
  }
}
