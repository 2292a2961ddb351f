import ChatPrimitives
import EventLog

/// Goes through a log once, from the first block that can hold something to the last.
struct AuditScan {
  let source: any BlockSource
  let filter: AuditFilter

  /// Calls `body` for each row that the filter lets through, in the order of the log.
  func forEach(_ body: (AuditRow) throws -> Void) throws {
    let head = source.head
    let last = min(filter.last ?? head, head)
    var position = max(filter.first, try start(through: last))
    while position <= last {
      let block = try source.block(containing: position)
      for record in block.records where record.position >= position && record.position <= last {
        guard filter.admits(record.envelope) else { continue }
        let row = try AuditRow(record)
        if filter.admits(row) { try body(row) }
      }
      // Recorded time never decreases: nothing that follows is early enough.
      if let until = filter.until, let time = block.records.last?.envelope.time, time > until { return }
      position = block.last.next
    }
  }

  /// The first position of the block in which `since` is reached: found by halving, since recorded time never decreases.
  private func start(through last: LogPosition) throws -> LogPosition {
    guard let since = filter.since else { return .first }
    var low = LogPosition.first
    var high = last.next
    // Every record before `low` is too early; the one at `high`, if there is one, is not.
    while low < high {
      let middle = LogPosition(low.value + (high.value - low.value) / 2)
      let block = try source.block(containing: middle)
      guard let time = block.records.last?.envelope.time else { return low }
      if time < since { low = block.last.next } else { high = min(middle, block.first) }
    }
    return low
  }
}
