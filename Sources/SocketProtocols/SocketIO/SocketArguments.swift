/// The payload of an event or an acknowledgement: a JSON array, and the binary attachments that it refers to.
///
/// An attachment is referred to by an object `{"_placeholder":true,"num":0}` in the array.
package struct SocketArguments: Equatable, Sendable {
  /// The array.
  package let json: [UInt8]
  /// Where its elements are.
  let elements: [Range<Int>]
  package let attachments: [[UInt8]]

  /// - Parameter elements: JSON texts. They are not checked.
  package init(_ elements: [[UInt8]], attachments: [[UInt8]] = []) {
    var json = [UInt8(ascii: "[")]
    var ranges: [Range<Int>] = []
    for element in elements {
      if !ranges.isEmpty { json.append(UInt8(ascii: ",")) }
      ranges.append(json.count..<json.count + element.count)
      json.append(contentsOf: element)
    }
    json.append(UInt8(ascii: "]"))
    self.json = json
    self.elements = ranges
    self.attachments = attachments
  }

  /// The arguments of an event: its name, then JSON texts, which are not checked.
  package init(event name: String, _ elements: [[UInt8]] = [], attachments: [[UInt8]] = []) {
    self.init([JSONScanner.quoted(name)] + elements, attachments: attachments)
  }

  init(checked json: [UInt8], elements: [Range<Int>], attachments: [[UInt8]]) {
    self.json = json
    self.elements = elements
    self.attachments = attachments
  }

  package var count: Int { elements.count }

  /// The JSON text of an element.
  package subscript(index: Int) -> [UInt8] { Array(json[elements[index]]) }

  /// All elements from an index on.
  package func elements(from start: Int) -> [[UInt8]] {
    elements.dropFirst(start).map { Array(json[$0]) }
  }

  /// The first element if it is a string. In an event it is the name.
  package var name: String? {
    guard let first = elements.first.map({ json[$0] }), first.first == UInt8(ascii: "\"") else { return nil }
    return String(decoding: JSONScanner.unescaped(first.dropFirst().dropLast()), as: UTF8.self)
  }
}
