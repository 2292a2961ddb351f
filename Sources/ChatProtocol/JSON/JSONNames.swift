/// Finds member names that an object has twice.
enum JSONNames {
  typealias Node = JSONDocument.Node

  /// Up to this many names are compared pairwise.
  private static let compared = 8

  /// A name that an object has twice. Names that are canonically equal (`é` as one character and as two) count as the
  /// same, because a program that reads them treats them as the same.
  static func firstRepeated(of object: Int, _ nodes: [Node], _ text: UnsafeBufferPointer<UInt8>) -> String? {
    let count = Int(nodes[object].count)
    guard count > 1 else { return nil }
    if count <= compared, areASCII(object, nodes, text) { return firstRepeatedBytes(of: object, nodes, text) }
    var known: Set<String> = []
    known.reserveCapacity(count)
    var index = object + 1
    for _ in 0..<count {
      let name = string(nodes[index], text)
      guard known.insert(name).inserted else { return name }
      index = Int(nodes[index + 1].next)
    }
    return nil
  }

  /// Whether all names are ASCII without escapes; then names are equal only if their bytes are.
  private static func areASCII(_ object: Int, _ nodes: [Node], _ text: UnsafeBufferPointer<UInt8>) -> Bool {
    var index = object + 1
    for _ in 0..<nodes[object].count {
      guard nodes[index].kind == .string, bytes(nodes[index], text).allSatisfy({ $0 < 0x80 }) else { return false }
      index = Int(nodes[index + 1].next)
    }
    return true
  }

  private static func firstRepeatedBytes(
    of object: Int, _ nodes: [Node], _ text: UnsafeBufferPointer<UInt8>
  ) -> String? {
    var index = object + 1
    for position in 0..<nodes[object].count {
      let name = bytes(nodes[index], text)
      var other = object + 1
      for _ in 0..<position {
        if bytes(nodes[other], text).elementsEqual(name) { return string(nodes[index], text) }
        other = Int(nodes[other + 1].next)
      }
      index = Int(nodes[index + 1].next)
    }
    return nil
  }

  private static func bytes(_ node: Node, _ text: UnsafeBufferPointer<UInt8>) -> UnsafeBufferPointer<UInt8> {
    UnsafeBufferPointer(rebasing: text[Int(node.start)..<Int(node.end)])
  }

  private static func string(_ node: Node, _ text: UnsafeBufferPointer<UInt8>) -> String {
    let bytes = bytes(node, text)
    guard node.kind == .escapedString else { return String(decoding: bytes, as: UTF8.self) }
    return String(decoding: JSONEscapes.resolved(Array(bytes)[...]), as: UTF8.self)
  }
}
