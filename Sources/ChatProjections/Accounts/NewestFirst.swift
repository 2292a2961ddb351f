import ChatPrimitives

/// A page of rows with positions, the newest first.
struct NewestFirst<Row> {
  let rows: [Row]
  /// The cursor of the next page; nil if there is none.
  let next: LogPosition?

  /// - Parameters:
  ///   - cursor: `next` of the page before; nil for the first page.
  ///   - position: returns the position of a row.
  ///   - read: takes a position and a number, and returns at most so many rows from before the position, the newest first.
  init(
    after cursor: LogPosition?, limit: Int, position: (Row) -> LogPosition, read: (Int64, Int) throws -> [Row]
  ) rethrows {
    let found = try read(cursor.map { Int64(clamping: $0.value) } ?? Int64.max, limit + 1)
    rows = Array(found.prefix(limit))
    next = found.count > limit ? rows.last.map(position) : nil
  }
}
