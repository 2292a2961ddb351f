import ChatPrimitives

/// Formats names and values, aligned, one per line. The fields of an object are indented.
enum FieldList {
  private static let indentation = "  "

  static func lines(_ fields: [(String, JSONValue)]) -> [String] {
    let width = fields.map { TextColumns.width(of: $0.0) }.max() ?? 0
    return fields.flatMap { name, value -> [String] in
      switch value {
      case .object(let inner) where !inner.isEmpty: [name] + lines(inner).map { indentation + $0 }
      case .text(let text): [line(name, TextColumns.visible(text), width)]
      case .null: [line(name, "-", width)]
      case .bool, .number, .signed, .decimal, .list, .object: [line(name, value.encoded, width)]
      }
    }
  }

  private static func line(_ name: String, _ value: String, _ width: Int) -> String {
    name + String(repeating: " ", count: width - TextColumns.width(of: name)) + indentation + value
  }
}
