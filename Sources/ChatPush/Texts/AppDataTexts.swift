import Foundation

/// The values of some members of an app's own JSON, as texts.
struct AppDataTexts {
  /// Longer JSON is not read, so that a large message does not delay the notifications of many devices. In bytes.
  static let maximumBytes = 16 * 1024

  private let texts: [[String]: String]

  /// - Parameters:
  ///   - json: nil if the message has none. JSON that is malformed, too long or nested too deeply has no members.
  ///   - paths: the names of the members that lead to each value, outermost first.
  init(of json: String?, at paths: [[String]]) {
    guard let json, !paths.isEmpty, json.utf8.count <= Self.maximumBytes else {
      texts = [:]
      return
    }
    let members = try? JSONDecoder().decode(Members.self, from: Data(json.utf8), configuration: paths)
    texts = members?.texts ?? [:]
  }

  /// Empty if there is no such member, or if it is not a text, a number or a boolean.
  subscript(path: [String]) -> String { texts[path] ?? "" }

  /// Decodes only these members, so that an unused one costs no memory.
  private struct Members: DecodableWithConfiguration {
    private typealias Object = KeyedDecodingContainer<MemberName>

    var texts: [[String]: String] = [:]

    init(from decoder: any Decoder, configuration paths: [[String]]) throws {
      var objects: [ArraySlice<String>: Object?] = [[]: try decoder.container(keyedBy: MemberName.self)]
      for path in paths {
        guard let name = path.last, let object = Self.object(at: path.dropLast(), &objects) else { continue }
        texts[path] = Self.text(MemberName(name), in: object)
      }
    }

    /// Reads each object once, however many of its members are shown, because the time to read it grows with the number
    /// of its members.
    private static func object(
      at path: ArraySlice<String>, _ objects: inout [ArraySlice<String>: Object?]
    ) -> Object? {
      if let known = objects[path] { return known }
      guard let name = path.last else { return nil }
      let outer = object(at: path.dropLast(), &objects)
      let found = outer.flatMap { try? $0.nestedContainer(keyedBy: MemberName.self, forKey: MemberName(name)) }
      objects.updateValue(found, forKey: path)
      return found
    }

    private static func text(_ name: MemberName, in object: Object) -> String? {
      if let text = try? object.decode(String.self, forKey: name) { return text }
      if let flag = try? object.decode(Bool.self, forKey: name) { return flag ? "true" : "false" }
      if let number = try? object.decode(Int64.self, forKey: name) { return String(number) }
      if let number = try? object.decode(UInt64.self, forKey: name) { return String(number) }
      return (try? object.decode(Double.self, forKey: name)).map { String($0) }
    }
  }

  private struct MemberName: CodingKey {
    let stringValue: String

    init(_ name: String) { stringValue = name }
    init(stringValue: String) { self.init(stringValue) }

    var intValue: Int? { nil }
    init?(intValue: Int) { nil }
  }
}
