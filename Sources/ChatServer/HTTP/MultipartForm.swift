/// Reads a form (`multipart/form-data`, RFC 7578) piece by piece, and finds the one file in it. Other fields are skipped.
///
/// It keeps at most the head of a part, or as many bytes as a delimiter has. Everything but the file's content counts
/// against a limit, so a form costs no more than its file.
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

  /// RFC 2046, section 5.1.1.
  static let boundaryBytes = 70
  /// The head of one part.
  static let headBytes = 4 * 1024
  /// Everything but the content of the file.
  static let otherBytes = 64 * 1024

  private enum State {
    case preamble
    /// After `CRLF--boundary`.
    case afterDelimiter
    case head
    /// In a part with an empty file name, before its first byte.
    case unnamed
    case content(isFile: Bool)
    case epilogue
  }

  private let delimiter: [UInt8]
  /// A delimiter begins with a line break, and the first one can be at the beginning of the body.
  private var buffer = Array("\r\n".utf8)
  /// The first byte of the buffer that was not read.
  private var start = 0
  /// What is looked for does not begin before this byte of the buffer, so no byte is searched again when more arrive.
  private var searched = 0
  private var state = State.preamble
  private var others = 0
  private var hasFile = false

  /// - Throws: `Flaw.boundary`.
  init(boundary: String) throws(Flaw) {
    let bytes = Array(boundary.utf8)
    guard (1...Self.boundaryBytes).contains(bytes.count), bytes.allSatisfy(Self.isBoundary), bytes.last != 0x20 else {
      throw .boundary
    }
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
      return try skip(isFile: false, &events)
    case .afterDelimiter:
      return try readDelimiterEnd(&events)
    case .head:
      return try readHead(&events)
    case .unnamed:
      return try readUnnamed(&events)
    case .content(let isFile):
      return try skip(isFile: isFile, &events)
    case .epilogue:
      try charge(restCount)
      take(restCount)
      return false
    }
  }

  private var restCount: Int { buffer.count - start }

  private mutating func take(_ count: Int) {
    start += count
    searched = start
  }

  /// Reads up to the next delimiter.
  private mutating func skip(isFile: Bool, _ events: inout [Event]) throws(Flaw) -> Bool {
    let place = find(delimiter)
    let length = place ?? max(0, restCount - delimiter.count + 1)
    if !isFile { try charge(length) }
    if isFile, length > 0 { events.append(.content(Array(buffer[start..<start + length]))) }
    take(length)
    guard place != nil else { return false }
    take(delimiter.count)
    try charge(delimiter.count)
    state = .afterDelimiter
    return true
  }

  /// `--` ends the form. Otherwise spaces and tabs can precede the line break.
  private mutating func readDelimiterEnd(_ events: inout [Event]) throws(Flaw) -> Bool {
    guard restCount >= 2 else { return false }
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
    guard let place = find(Array("\r\n\r\n".utf8)) else {
      // The end of the longest head can be incomplete.
      guard restCount < Self.headBytes + 4 else { throw .headTooLong }
      return false
    }
    guard place <= Self.headBytes else { throw .headTooLong }
    try charge(place)
    let head = try FormPartHead(Array(buffer[start..<start + place].dropFirst(2)))
    take(place + 4)
    if head.hasEmptyFileName {
      state = .unnamed
      return true
    }
    if head.isFile { try beginFile(head.fileName, &events) }
    state = .content(isFile: head.isFile)
    return true
  }

  /// For an input without a chosen file, a browser sends a part with an empty file name and no content. It is skipped. A
  /// part with content is a file.
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
    others += bytes
    guard others <= Self.otherBytes else { throw .tooLong }
  }

  /// Where these bytes begin, counted from the first byte that was not read. They begin with a carriage return and have
  /// few, so the comparison fails early at most places.
  private mutating func find(_ wanted: [UInt8]) -> Int? {
    let first = searched
    let found: Int? = buffer.withUnsafeBufferPointer { bytes in
      var place = first
      while place + wanted.count <= bytes.count {
        var length = 0
        while length < wanted.count, bytes[place + length] == wanted[length] { length += 1 }
        if length == wanted.count { return place }
        place += 1
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
