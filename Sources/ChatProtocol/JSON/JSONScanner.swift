import ChatPrimitives

/// Scans a JSON text once, from its first byte to its last, and records the location of each value. Takes time in
/// proportion to the text's length, whatever it contains.
struct JSONScanner {
  typealias Node = JSONDocument.Node

  let text: UnsafeBufferPointer<UInt8>
  var index = 0
  var nodes: [Node] = []
  private var depth = 0
  private var values = 0

  private init(_ text: UnsafeBufferPointer<UInt8>) {
    self.text = text
  }

  static func scan(_ bytes: [UInt8]) throws(JSONFlaw) -> [Node] {
    let result = bytes.withUnsafeBufferPointer { text -> Result<[Node], JSONFlaw> in
      var scanner = JSONScanner(text)
      do throws(JSONFlaw) {
        try scanner.document()
        return .success(scanner.nodes)
      } catch {
        // A text that is not UTF-8 is reported as such, even if it has another flaw before that.
        if case .malformed = error, String(validating: text, as: UTF8.self) == nil { return .failure(.invalidUTF8) }
        return .failure(error)
      }
    }
    return try result.get()
  }

  private mutating func document() throws(JSONFlaw) {
    // RFC 8259, section 8.1: a parser may ignore a byte order mark.
    if text.starts(with: [0xef, 0xbb, 0xbf]) { index = 3 }
    nodes.reserveCapacity(min(text.count / 8 + 1, Limits.jsonValues))
    skipBlanks()
    guard index < text.count else { throw .empty }
    try value()
    skipBlanks()
    guard index == text.count else { throw malformed("unexpected content after the value") }
  }

  // MARK: - Values

  private mutating func value() throws(JSONFlaw) {
    guard index < text.count else { throw malformed("unexpected end of the text") }
    switch text[index] {
    case UInt8(ascii: "{"): try object()
    case UInt8(ascii: "["): try array()
    case UInt8(ascii: "\""): try string()
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): try number()
    case UInt8(ascii: "t"): try word("true", .true)
    case UInt8(ascii: "f"): try word("false", .false)
    case UInt8(ascii: "n"): try word("null", .null)
    default: throw malformed("expected a value")
    }
  }

  private mutating func word(_ word: StaticString, _ kind: Node.Kind) throws(JSONFlaw) {
    let start = index
    for offset in 0..<word.utf8CodeUnitCount {
      guard index < text.count, text[index] == word.utf8Start[offset] else {
        throw malformed("expected a value")
      }
      index += 1
    }
    add(kind, start, index)
  }

  private mutating func array() throws(JSONFlaw) {
    let own = try open(.array)
    skipBlanks()
    if take(UInt8(ascii: "]")) { return close(own, 0) }
    var count: UInt32 = 0
    repeat {
      try countValue()
      count += 1
      skipBlanks()
      try value()
      skipBlanks()
    } while take(UInt8(ascii: ","))
    guard take(UInt8(ascii: "]")) else { throw malformed("a comma or ] is missing") }
    close(own, count)
  }

  private mutating func object() throws(JSONFlaw) {
    let own = try open(.object)
    skipBlanks()
    if take(UInt8(ascii: "}")) { return close(own, 0) }
    var count: UInt32 = 0
    repeat {
      try countValue()
      count += 1
      skipBlanks()
      guard index < text.count, text[index] == UInt8(ascii: "\"") else { throw malformed("a member's name is missing") }
      let name = nodes.count
      try string()
      guard nodes[name].end - nodes[name].start <= Limits.jsonKeyBytes else { throw .keyTooLong }
      skipBlanks()
      guard take(UInt8(ascii: ":")) else { throw malformed("a colon is missing") }
      skipBlanks()
      try value()
      skipBlanks()
    } while take(UInt8(ascii: ","))
    guard take(UInt8(ascii: "}")) else { throw malformed("a comma or } is missing") }
    close(own, count)
    if let name = JSONNames.firstRepeated(of: own, nodes, text) { throw .duplicateMember(name) }
  }

  private mutating func open(_ kind: Node.Kind) throws(JSONFlaw) -> Int {
    depth += 1
    guard depth <= Limits.jsonDepth else { throw .tooDeep }
    index += 1
    add(kind, 0, 0)
    return nodes.count - 1
  }

  private mutating func close(_ own: Int, _ count: UInt32) {
    depth -= 1
    nodes[own].count = count
    nodes[own].next = UInt32(truncatingIfNeeded: nodes.count)
  }

  private mutating func countValue() throws(JSONFlaw) {
    values += 1
    guard values <= Limits.jsonValues else { throw .tooManyValues }
  }

  // MARK: - Numbers

  private mutating func number() throws(JSONFlaw) {
    let start = index
    var kind = Node.Kind.integer
    _ = take(UInt8(ascii: "-"))
    if !take(UInt8(ascii: "0")) { try digits() }
    if take(UInt8(ascii: ".")) {
      kind = .number
      try digits()
    }
    if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
      kind = .number
      if !take(UInt8(ascii: "+")) { _ = take(UInt8(ascii: "-")) }
      try digits()
    }
    guard index - start <= Limits.jsonNumberBytes else { throw .numberTooLong }
    add(kind, start, index)
  }

  private mutating func digits() throws(JSONFlaw) {
    let start = index
    while index < text.count, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(text[index]) { index += 1 }
    guard index > start else { throw malformed("a digit is missing") }
  }

  // MARK: - Parts

  /// Bodies have at most 16 MiB, so every index fits 32 bits.
  mutating func add(_ kind: Node.Kind, _ start: Int, _ end: Int) {
    nodes.append(
      Node(
        kind: kind, start: UInt32(truncatingIfNeeded: start), end: UInt32(truncatingIfNeeded: end),
        next: UInt32(truncatingIfNeeded: nodes.count + 1)))
  }

  private mutating func skipBlanks() {
    while index < text.count {
      switch text[index] {
      case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"), UInt8(ascii: "\n"): index += 1
      default: return
      }
    }
  }

  mutating func take(_ byte: UInt8) -> Bool {
    guard index < text.count, text[index] == byte else { return false }
    index += 1
    return true
  }

  func malformed(_ what: String) -> JSONFlaw { .malformed(what, offset: index) }
}
