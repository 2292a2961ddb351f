package import ChatDomain
package import ChatPrimitives

/// Limits the total size of the items on a page. A page has at least one item and ends before the first further item
/// that does not fit; the next page starts with that item.
package struct PageBudget: Sendable {
  private var left: Int
  private var isEmpty = true

  package init(bytes: Int = Limits.pageContentBytes) {
    left = bytes
  }

  /// - Returns: false if the page ends before an item of this many bytes.
  package mutating func take(_ bytes: Int) -> Bool {
    guard isEmpty || bytes <= left else { return false }
    isEmpty = false
    left -= bytes
    return true
  }

  /// A budget with half of the remaining bytes. If this page already has an item, the first item of the half must fit,
  /// too.
  func half() -> PageBudget {
    var half = self
    half.left = left / 2
    return half
  }

  /// The remaining budget after `part`, which came from `half`, has been used.
  func after(_ part: PageBudget) -> PageBudget {
    var rest = part
    rest.left = left - left / 2 + part.left
    return rest
  }
}

extension String {
  /// The length of the text in a JSON string, without the quotes. Most control characters take six bytes; the others,
  /// quotes and backslashes take two (RFC 8259, section 7).
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
  /// Estimated bytes of one mentioned user in a response, including the nickname, and of one file, without its name.
  private static let bytesOfUser = 256
  private static let bytesOfFile = 256
  /// Estimated bytes of a quote in a response, with its author's nickname and one file.
  private static let bytesOfQuote = Limits.quotedTextBytes + bytesOfUser + bytesOfFile

  /// Approximate number of bytes that it adds to a response.
  var contentBytes: Int {
    let quote = replyTo == nil ? 0 : Self.bytesOfQuote
    return attachments.reduce(quote + mentions.users.count * Self.bytesOfUser + (custom?.body.utf8.count ?? 0)) {
      $0 + Self.bytesOfFile + ($1.name?.jsonBytes ?? 0)
    }
  }
}

extension MessageRow {
  /// Approximate number of bytes that it adds to a response.
  package var contentBytes: Int { text.jsonBytes + (details?.contentBytes ?? 0) }
}

extension RoomListRow {
  /// Approximate number of bytes that it adds to a response.
  package var contentBytes: Int {
    (room.topic?.jsonBytes ?? 0) + (custom?.utf8.count ?? 0) + (room.lastMessage?.contentBytes ?? 0)
  }
}

extension ScheduledRow {
  package var contentBytes: Int { message.content.text.jsonBytes + (message.content.details?.contentBytes ?? 0) }
}

extension CachedStatement {
  /// The rows of one page. The statement must select up to `limit` + 1 rows.
  /// - Returns: the rows, and whether there are more.
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
