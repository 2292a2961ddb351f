import ChatPrimitives
import EventLog

/// Goes through a log once, from the first block that can hold something to the last.
struct AuditScan {
  let source: any BlockSource
  let filter: AuditFilter

  /// Calls `body` for each row that the filter lets through, in the order of the log. What sealed segments know of times
  /// and of streams spares the blocks that hold nothing of it.
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

  /// - Returns: false when nothing that follows is early enough, since recorded time never decreases.
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
