import ChatPrimitives

/// The blocks of a sealed segment that hold records of each stream: a list of block numbers for each entry of the table
/// of UUIDs.
struct StreamPostings {
  private var blocks: [[UInt32]]

  init(tableCount: Int) {
    blocks = Array(repeating: [], count: tableCount)
  }

  /// Records that the block holds a record of the stream. Call it with blocks in ascending order.
  mutating func note(stream: Int, block: UInt32) {
    if blocks[stream].last != block { blocks[stream].append(block) }
  }

  func encoded() -> [UInt8] {
    var bytes: [UInt8] = []
    for list in blocks {
      bytes.append(variable: list.count)
      var next: UInt32 = 0
      for block in list {
        bytes.append(variable: UInt64(block - next))
        next = block + 1
      }
    }
    return bytes
  }

  /// Parses all lists and calls `body` with each. The bytes must hold exactly `entries` lists.
  static func forEach(
    in bytes: [UInt8], entries: Int, blockCount: Int, _ body: (_ entry: Int, _ blocks: [Int]) throws(FormatFlaw) -> Void
  ) throws(FormatFlaw) {
    var cursor = ByteCursor(bytes)
    for number in 0..<entries {
      try body(number, nextList(&cursor, blockCount: blockCount))
    }
    guard cursor.isAtEnd else { throw FormatFlaw("bytes follow the postings") }
  }

  private static func nextList(
    _ cursor: inout ByteCursor, blockCount: Int
  ) throws(FormatFlaw) -> [Int] {
    let count = try cursor.count(limit: blockCount)
    var list: [Int] = []
    var next = 0
    for _ in 0..<count {
      let block = next + (try cursor.count(limit: blockCount))
      guard block < blockCount else { throw FormatFlaw("the postings name block \(block) of \(blockCount)") }
      list.append(block)
      next = block + 1
    }
    return list
  }
}
