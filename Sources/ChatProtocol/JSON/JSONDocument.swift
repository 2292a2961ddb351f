/// A JSON text that has been read once: its bytes, and the location of each value. It has been checked against RFC 8259
/// and the limits, so code that reads the document later finds no flaw in it.
public final class JSONDocument: Sendable {
  /// One value, or the name of a member. The nodes of an array's elements follow the array's node. The nodes of an
  /// object's members follow in pairs, the name before the value.
  struct Node: Sendable {
    enum Kind: UInt8, Sendable {
      case null, `true`, `false`
      /// Only digits, possibly after a minus sign.
      case integer
      case number
      case string
      /// A string that contains an escape.
      case escapedString
      case array, object
    }

    var kind: Kind
    /// The number of an array's elements or of an object's members; unused for other kinds.
    var count: UInt32 = 0
    /// The bytes of a number, or those between a string's quotes.
    var start: UInt32
    var end: UInt32
    /// The index of the node after this value and everything in it.
    var next: UInt32
  }

  let bytes: [UInt8]
  let nodes: [Node]

  /// - Throws: `JSONFlaw`
  public init(_ bytes: [UInt8]) throws(JSONFlaw) {
    nodes = try JSONScanner.scan(bytes)
    self.bytes = bytes
  }

  /// - Throws: `DecodingError`, or what the type's own decoding throws.
  public func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    try Value(from: JSONDocumentDecoder(self))
  }

  // MARK: - Texts

  /// The text of a string's node, with escapes resolved.
  func string(_ node: Node) -> String {
    let range = Int(node.start)..<Int(node.end)
    guard node.kind == .escapedString else { return String(decoding: bytes[range], as: UTF8.self) }
    return String(decoding: JSONEscapes.resolved(bytes[range]), as: UTF8.self)
  }

  /// The text of a number's node.
  func number(_ node: Node) -> String {
    String(decoding: bytes[Int(node.start)..<Int(node.end)], as: UTF8.self)
  }

  /// Compares bytes, after escapes are resolved.
  func isName(_ node: Node, _ name: String) -> Bool {
    if node.kind == .escapedString { return string(node).utf8.elementsEqual(name.utf8) }
    let length = Int(node.end) - Int(node.start)
    guard length == name.utf8.count else { return false }
    return bytes[Int(node.start)..<Int(node.end)].elementsEqual(name.utf8)
  }

  /// Calls `body` with the nodes of each member's name and value, until it returns true.
  func findMember(of object: Int, _ body: (_ name: Int, _ value: Int) -> Bool) {
    var name = object + 1
    for _ in 0..<nodes[object].count {
      if body(name, name + 1) { return }
      name = Int(nodes[name + 1].next)
    }
  }
}
