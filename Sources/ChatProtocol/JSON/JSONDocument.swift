/// A JSON text that has been read once: its bytes, and where each value in it stands. Everything that RFC 8259 and the
/// limits ask for has been checked, so nothing that reads the document later meets a flaw in it.
public final class JSONDocument: Sendable {
  /// One value, or the name of a member. The nodes of an array's elements follow its own; those of an object's members
  /// come in pairs, the name before the value.
  struct Node: Sendable {
    enum Kind: UInt8, Sendable {
      case null, `true`, `false`
      /// Digits alone, perhaps with a minus before them.
      case integer
      case number
      case string
      /// A string with an escape in it.
      case escapedString
      case array, object
    }

    var kind: Kind
    /// Of an array or object, how many elements or members it has. Otherwise unused.
    var count: UInt32 = 0
    /// The bytes of a number, or those between a string's quotes.
    var start: UInt32
    var end: UInt32
    /// The node after this value and all that is in it.
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

  /// Of a string's node.
  func string(_ node: Node) -> String {
    let range = Int(node.start)..<Int(node.end)
    guard node.kind == .escapedString else { return String(decoding: bytes[range], as: UTF8.self) }
    return String(decoding: JSONEscapes.resolved(bytes[range]), as: UTF8.self)
  }

  /// Of a number's node.
  func number(_ node: Node) -> String {
    String(decoding: bytes[Int(node.start)..<Int(node.end)], as: UTF8.self)
  }

  /// The same names are the same bytes, or the same after their escapes are resolved.
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
