/// Reads a form (`multipart/form-data`, RFC 7578) piece by piece, and finds the one file in it. Other fields are skipped.
///
/// It keeps at most the head of a part, or as many bytes as a delimiter has. Everything besides the file's content counts
/// against a limit, so a form costs little more than its file.
struct MultipartForm {
  enum Event: Equatable {
    /// The file begins. The name is that of the form, without a path.
    case file(name: String?)
    /// The next bytes of the file; never empty.
    case content([UInt8])
    /// The form ends. Whatever follows is skipped.
    case end
  }

  /// The rule that the form breaks.
  enum Flaw: Error, Equatable {
    case boundary
    case afterDelimiter
    case head
    case headTooLong
    case tooLong
    case secondFile
    case noFile
    case incomplete
  }

  /// The longest boundary, in bytes (RFC 2046, section 5.1.1).
  static let boundaryBytes = 70
  /// The longest head of one part, in bytes.
  static let headBytes = 4 * 1024
  /// Everything besides the content of the file, in bytes.
  static let otherBytes = 64 * 1024

  /// The empty line after the fields of a head, with the line break before it.
  private static let endOfHead = Array("\r\n\r\n".utf8)

  private enum State {
    /// Before the first delimiter.
    case preamble
    /// After `CRLF--boundary`.
    case afterDelimiter
    case head
    /// In a part with an empty file name, before its first byte.
    case unnamed
    case content(isFile: Bool)
    /// After the last delimiter.
    case epilogue
  }

  private let delimiter: [UInt8]
  /// A delimiter begins with a line break, and the first one can be at the beginning of the body.
  private var buffer = Array("\r\n".utf8)
  /// The first byte of the buffer that was not read.
  private var start = 0
  /// No match of `find` begins before this byte of the buffer, so no byte is searched again when more bytes arrive.
  private var searched = 0
  private var state = State.preamble
  /// The bytes that count against `otherBytes`.
  private var charged = 0
  private var hasFile = false

  /// - Throws: `Flaw.boundary`.
  init(boundary: String) throws(Flaw) {
    let bytes = Array(boundary.utf8)
    guard (1...Self.boundaryBytes).contains(bytes.count), bytes.allSatisfy(Self.isBoundary),
      bytes.last != UInt8(ascii: " ")
    else { throw .boundary }
    delimiter = Array("\r\n--".utf8) + bytes
  }

  /// - Parameter contentType: the `Content-Type` of the request.
  /// - Returns: nil if it is not a form.
  init?(contentType: String) throws(Flaw) {
    var fields = FormParameters(Array(contentType.utf8)[...])
    guard let type = fields.value(), type.lowercased() == "multipart/form-data" else { return nil }
    guard let parameters = fields.parameters(), let boundary = parameters["boundary"] else { throw .boundary }
    try self.init(boundary: boundary)
  }

  /// - Returns: what the next bytes of the body contain.
  mutating func receive(_ bytes: some Sequence<UInt8>) throws(Flaw) -> [Event] {
    if start > 0 {
      buffer.removeSubrange(..<start)
      (start, searched) = (0, searched - start)
    }
    buffer += bytes
    var events: [Event] = []
    while try step(&events) {}
    return events
  }

  /// Call this at the end of the body.
  func finish() throws(Flaw) {
    guard case .epilogue = state else { throw .incomplete }
  }

  /// - Returns: false if it needs more bytes.
  private mutating func step(_ events: inout [Event]) throws(Flaw) -> Bool {
    switch state {
    case .preamble:
      return try readToDelimiter(isFile: false, &events)
    case .afterDelimiter:
      return try readDelimiterEnd(&events)
    case .head:
      return try readHead(&events)
    case .unnamed:
      return try readUnnamed(&events)
    case .content(let isFile):
      return try readToDelimiter(isFile: isFile, &events)
    case .epilogue:
      try charge(unreadCount)
      take(unreadCount)
      return false
    }
  }

  /// How many bytes of the buffer were not read.
  private var unreadCount: Int { buffer.count - start }

  private mutating func take(_ count: Int) {
    start += count
    searched = start
  }

  /// Reads up to the next delimiter and past it. What precedes it is content of the file, or skipped.
  private mutating func readToDelimiter(isFile: Bool, _ events: inout [Event]) throws(Flaw) -> Bool {
    let found = find(delimiter)
    // The last bytes can be the beginning of a delimiter.
    let length = found ?? max(0, unreadCount - delimiter.count + 1)
    if !isFile { try charge(length) }
    if isFile, length > 0 { events.append(.content(Array(buffer[start..<start + length]))) }
    take(length)
    guard found != nil else { return false }
    take(delimiter.count)
    try charge(delimiter.count)
    state = .afterDelimiter
    return true
  }

  /// `--` ends the form. Otherwise spaces and tabs can precede the line break.
  private mutating func readDelimiterEnd(_ events: inout [Event]) throws(Flaw) -> Bool {
    guard unreadCount >= 2 else { return false }
    let (first, second) = (buffer[start], buffer[start + 1])
    if first == UInt8(ascii: "-"), second == UInt8(ascii: "-") {
      guard hasFile else { throw .noFile }
      take(2)
      events.append(.end)
      state = .epilogue
      return true
    }
    if first == UInt8(ascii: " ") || first == UInt8(ascii: "\t") {
      take(1)
      try charge(1)
      return true
    }
    guard first == UInt8(ascii: "\r"), second == UInt8(ascii: "\n") else { throw .afterDelimiter }
    // The line break stays: a head without fields is only the empty line after it.
    state = .head
    return true
  }

  private mutating func readHead(_ events: inout [Event]) throws(Flaw) -> Bool {
    guard let length = find(Self.endOfHead) else {
      // The longest head may have arrived without the last byte of its end.
      guard unreadCount < Self.headBytes + Self.endOfHead.count else { throw .headTooLong }
      return false
    }
    guard length <= Self.headBytes else { throw .headTooLong }
    try charge(length)
    // The head begins with the line break after the delimiter.
    let head = try FormPartHead(Array(buffer[start..<start + length].dropFirst(2)))
    take(length + Self.endOfHead.count)
    if head.hasEmptyFileName {
      state = .unnamed
      return true
    }
    if head.isFile { try beginFile(head.fileName, &events) }
    state = .content(isFile: head.isFile)
    return true
  }

  /// A browser sends a part with an empty file name and no content for an input in which the user chose no file. Such a
  /// part is skipped. With content, the part is a file.
  private mutating func readUnnamed(_ events: inout [Event]) throws(Flaw) -> Bool {
    let beginning = buffer[start...].prefix(delimiter.count)
    if beginning.count < delimiter.count, delimiter.starts(with: beginning) { return false }
    let isFile = !beginning.elementsEqual(delimiter)
    if isFile { try beginFile(nil, &events) }
    state = .content(isFile: isFile)
    return true
  }

  private mutating func beginFile(_ name: String?, _ events: inout [Event]) throws(Flaw) {
    guard !hasFile else { throw .secondFile }
    hasFile = true
    events.append(.file(name: name))
  }

  private mutating func charge(_ bytes: Int) throws(Flaw) {
    charged += bytes
    guard charged <= Self.otherBytes else { throw .tooLong }
  }

  /// The number of unread bytes before the first occurrence of `wanted`; nil if it is not in the buffer yet. `wanted`
  /// begins with a carriage return, which is rare, so most comparisons fail at the first byte.
  private mutating func find(_ wanted: [UInt8]) -> Int? {
    let first = searched
    let found: Int? = buffer.withUnsafeBufferPointer { bytes in
      var index = first
      while index + wanted.count <= bytes.count {
        var length = 0
        while length < wanted.count, bytes[index + length] == wanted[length] { length += 1 }
        if length == wanted.count { return index }
        index += 1
      }
      return nil
    }
    searched = found ?? max(searched, buffer.count - wanted.count + 1)
    return found.map { $0 - start }
  }

  private static func isBoundary(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "a")...UInt8(ascii: "z"):
      true
    default: "'()+_,-./:=? ".utf8.contains(byte)
    }
  }
}
