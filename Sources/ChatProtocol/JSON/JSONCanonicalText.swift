/// Writes a value of a document in its canonical form: members sorted by their names, no white space, the fewest
/// escapes, and one form for each number.
struct JSONCanonicalText {
  private let document: JSONDocument
  private(set) var bytes: [UInt8] = []

  /// - Returns: nil if it contains a number that is too large for a double.
  static func text(of node: Int, in document: JSONDocument) -> String? {
    var writer = JSONCanonicalText(document: document)
    guard writer.write(node) else { return nil }
    return String(decoding: writer.bytes, as: UTF8.self)
  }

  private init(document: JSONDocument) {
    self.document = document
  }

  private mutating func write(_ index: Int) -> Bool {
    let node = document.nodes[index]
    switch node.kind {
    case .null: bytes.append(contentsOf: "null".utf8)
    case .true: bytes.append(contentsOf: "true".utf8)
    case .false: bytes.append(contentsOf: "false".utf8)
    case .integer, .number:
      return JSONNumbers.writeCanonical(document.bytes[Int(node.start)..<Int(node.end)], to: &bytes)
    case .string: copy(node)
    case .escapedString: JSONEscapes.write(document.string(node), to: &bytes)
    case .array: return writeArray(index)
    case .object: return writeObject(index)
    }
    return true
  }

  /// A string without escapes is already canonical.
  private mutating func copy(_ node: JSONDocument.Node) {
    bytes.append(UInt8(ascii: "\""))
    bytes.append(contentsOf: document.bytes[Int(node.start)..<Int(node.end)])
    bytes.append(UInt8(ascii: "\""))
  }

  private mutating func writeArray(_ index: Int) -> Bool {
    bytes.append(UInt8(ascii: "["))
    var element = index + 1
    for position in 0..<document.nodes[index].count {
      if position > 0 { bytes.append(UInt8(ascii: ",")) }
      guard write(element) else { return false }
      element = Int(document.nodes[element].next)
    }
    bytes.append(UInt8(ascii: "]"))
    return true
  }

  private mutating func writeObject(_ index: Int) -> Bool {
    bytes.append(UInt8(ascii: "{"))
    for (position, name) in namesInOrder(of: index).enumerated() {
      if position > 0 { bytes.append(UInt8(ascii: ",")) }
      let node = document.nodes[name]
      if node.kind == .string { copy(node) } else { JSONEscapes.write(document.string(node), to: &bytes) }
      bytes.append(UInt8(ascii: ":"))
      guard write(name + 1) else { return false }
    }
    bytes.append(UInt8(ascii: "}"))
    return true
  }

  /// The nodes of the names, sorted by their bytes.
  private func namesInOrder(of object: Int) -> [Int] {
    let nodes = document.nodes
    var names: [Int] = []
    names.reserveCapacity(Int(nodes[object].count))
    var hasEscapes = false
    document.findMember(of: object) { name, _ in
      names.append(name)
      hasEscapes = hasEscapes || nodes[name].kind == .escapedString
      return false
    }
    guard names.count > 1 else { return names }
    guard hasEscapes else {
      names.sort { slice(nodes[$0]).lexicographicallyPrecedes(slice(nodes[$1])) }
      return names
    }
    return names.map { (name: $0, bytes: Array(document.string(nodes[$0]).utf8)) }
      .sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }.map(\.name)
  }

  private func slice(_ node: JSONDocument.Node) -> ArraySlice<UInt8> {
    document.bytes[Int(node.start)..<Int(node.end)]
  }
}
