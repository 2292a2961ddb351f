package import ChatDomain
package import ChatPrimitives

/// How much the items of a page may hold together. A page ends before the item that would be too much, and goes on with it
/// on the next page; it has one item at least.
package struct PageBudget: Sendable {
  private var left: Int
  private var isEmpty = true

  package init(bytes: Int = Limits.pageContentBytes) {
    left = bytes
  }

  /// - Returns: false when the page ends before an item of so many bytes.
  package mutating func take(_ bytes: Int) -> Bool {
    guard isEmpty || bytes <= left else { return false }
    isEmpty = false
    left -= bytes
    return true
  }

  /// Half of what is left, and never an item for nothing when this page has one already.
  func half() -> PageBudget {
    var half = self
    half.left = left / 2
    return half
  }

  /// What is left once another budget, which was a part of this one, has been used.
  func after(_ part: PageBudget) -> PageBudget {
    var rest = part
    rest.left = left - left / 2 + part.left
    return rest
  }
}

extension String {
  /// How long the text is between the quotes of a JSON string: six bytes for most control characters, two for others and
  /// for quotes and backslashes (RFC 8259, section 7).
  package var jsonBytes: Int {
    var text = self
    return text.withUTF8 { bytes in
      bytes.reduce(bytes.count) { sum, byte in
        if byte >= 0x20 { return byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") ? sum + 1 : sum }
        // \b, \t, \n, \f and \r; U+000B between them has no short escape.
        return 0x08...0x0d ~= byte && byte != 0x0b ? sum + 1 : sum + 5
      }
    }
  }
}

extension MessageDetails {
  /// What a response takes for each user whom a message names, whose nickname it includes, and for each file without
  /// its name.
  private static let bytesOfUser = 256
  private static let bytesOfFile = 256

  /// What it adds to a response, in bytes, roughly.
  var contentBytes: Int {
    attachments.reduce(mentions.users.count * Self.bytesOfUser + (custom?.body.utf8.count ?? 0)) {
      $0 + Self.bytesOfFile + ($1.name?.jsonBytes ?? 0)
    }
  }
}

extension MessageRow {
  /// What it adds to a response, in bytes, roughly.
  package var contentBytes: Int { text.jsonBytes + (details?.contentBytes ?? 0) }
}

extension RoomListRow {
  /// What it adds to a response, in bytes, roughly.
  var contentBytes: Int { (room.topic?.jsonBytes ?? 0) + (room.lastMessage?.contentBytes ?? 0) }
}

extension ScheduledRow {
  var contentBytes: Int { message.content.text.jsonBytes + (message.content.details?.contentBytes ?? 0) }
}

extension CachedStatement {
  /// The rows of one page. The statement gives one more than `limit`.
  /// - Returns: whether there are more rows than these.
  func page<each Value: SQLBindable, Row>(
    of limit: Int, _ values: repeat each Value, bytes: (Row) -> Int, read: (inout RowReader) throws -> Row
  ) throws -> (rows: [Row], isCut: Bool) {
    var rows: [Row] = []
    var isCut = false
    var budget = PageBudget()
    try readWhile(repeat each values) { columns in
      let row = try read(&columns)
      isCut = rows.count == limit || !budget.take(bytes(row))
      if !isCut { rows.append(row) }
      return !isCut
    }
    return (rows, isCut)
  }
}
