import ChatPrimitives

/// A text with placeholders in braces, parsed once.
struct PushTemplate: Sendable, Hashable {
  /// The maximum length, in bytes of UTF-8.
  static let maximumBytes = 1024
  /// The maximum number of placeholders.
  static let maximumPlaceholders = 16
  /// The maximum number of names in the path to a member of the app's JSON: 2 in `{data.order.number}`.
  static let maximumPathNames = 8

  /// A part of a notification that a placeholder can name.
  enum Field: String, Sendable, CaseIterable {
    case sender
    case room
    case workspace
    case text
    case emoji
  }

  private enum Part: Sendable, Hashable {
    case text(String)
    case field(Field)
    /// The names of the members that lead to a value in the app's JSON.
    case data([String])
  }

  private let parts: [Part]

  init(_ text: String) throws(PushTemplateError) {
    guard !text.isEmpty else { throw .empty }
    guard text.utf8.count <= Self.maximumBytes else { throw .tooLong(bytes: text.utf8.count) }
    var parser = Parser(text)
    try parser.parse()
    parts = parser.parts
  }

  /// The paths to the members of the app's JSON that it shows.
  var dataPaths: [[String]] {
    parts.compactMap { part in
      if case .data(let path) = part { path } else { nil }
    }
  }

  // MARK: - Rendering

  /// What is inserted is not parsed again, so that no user can insert a placeholder.
  /// - Returns: the text, cut off between characters after at most `bytes` bytes.
  func rendered(_ input: PushTextInput, _ members: AppDataTexts, bytes: Int) -> String {
    var text = ""
    for part in parts {
      let next = Self.text(of: part, input, members)
      // A longer text would be cut off below.
      let beginning = next.beginning(ofBytes: bytes)
      text += beginning
      guard beginning.utf8.count == next.utf8.count, text.utf8.count <= bytes else { break }
    }
    return text.beginning(ofBytes: bytes)
  }

  private static func text(of part: Part, _ input: PushTextInput, _ members: AppDataTexts) -> String {
    switch part {
    case .text(let text): text
    case .field(.sender): input.senderNickname
    case .field(.room): input.shownRoom
    case .field(.workspace): input.workspaceName
    case .field(.text): input.content
    case .field(.emoji): input.emoji ?? ""
    case .data(let path): members[path]
    }
  }

  // MARK: - Parsing

  /// Works on bytes: braces and dots in UTF-8 are never a part of another character.
  private struct Parser {
    private let bytes: [UInt8]
    private var index = 0
    private var literal: [UInt8] = []
    private(set) var parts: [Part] = []

    init(_ text: String) { bytes = Array(text.utf8) }

    mutating func parse() throws(PushTemplateError) {
      var placeholders = 0
      while index < bytes.count {
        let byte = bytes[index]
        index += 1
        guard byte == UInt8(ascii: "{") || byte == UInt8(ascii: "}") else {
          literal.append(byte)
          continue
        }
        if index < bytes.count, bytes[index] == byte {
          literal.append(byte)
          index += 1
          continue
        }
        guard byte == UInt8(ascii: "{") else { throw .unopenedBrace }
        endLiteral()
        parts.append(try Self.placeholder(takeName()))
        placeholders += 1
        guard placeholders <= maximumPlaceholders else { throw .tooManyPlaceholders }
      }
      endLiteral()
    }

    private mutating func endLiteral() {
      if !literal.isEmpty { parts.append(.text(String(decoding: literal, as: UTF8.self))) }
      literal = []
    }

    private mutating func takeName() throws(PushTemplateError) -> String {
      let rest = bytes[index...]
      guard let end = rest.firstIndex(where: { $0 == UInt8(ascii: "{") || $0 == UInt8(ascii: "}") }),
        rest[end] == UInt8(ascii: "}")
      else { throw .unclosedBrace }
      index = end + 1
      return String(decoding: rest[..<end], as: UTF8.self)
    }

    private static func placeholder(_ name: String) throws(PushTemplateError) -> Part {
      if let field = Field(rawValue: name) { return .field(field) }
      let path = name.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
      guard path.count > 1, path[0] == "data", !path.contains("") else { throw .unknownPlaceholder(name) }
      guard path.count - 1 <= maximumPathNames else { throw .pathTooLong(name) }
      return .data(Array(path.dropFirst()))
    }
  }
}

/// Why a text is not a template.
enum PushTemplateError: Error, Sendable, Hashable {
  case empty
  case tooLong(bytes: Int)
  case unclosedBrace
  case unopenedBrace
  case unknownPlaceholder(String)
  case tooManyPlaceholders
  case pathTooLong(String)

  /// Continues a sentence that begins with the name of the template.
  var description: String {
    switch self {
    case .empty: "is empty"
    case .tooLong(let bytes): "has \(bytes) bytes; the maximum is \(PushTemplate.maximumBytes)"
    case .unclosedBrace: "has a { without a }"
    case .unopenedBrace: "has a } without a {"
    case .unknownPlaceholder(let name): "has the unknown placeholder {\(name)}"
    case .tooManyPlaceholders: "has more than \(PushTemplate.maximumPlaceholders) placeholders"
    case .pathTooLong(let name): "has {\(name)}, with more than \(PushTemplate.maximumPathNames) names after data"
    }
  }

  /// What to do.
  var next: String {
    switch self {
    case .empty: "write a text"
    case .tooLong: "shorten it"
    case .tooManyPlaceholders: "remove some"
    case .unclosedBrace: "close the placeholder, or write {{ for a brace"
    case .unopenedBrace: "write }} for a brace"
    case .unknownPlaceholder:
      "write "
        + PushTemplate.Field.allCases.map { "{\($0.rawValue)}" }.joined(separator: ", ")
        + " or {data.member}; {{ and }} are braces"
    case .pathTooLong: "put the value into a member that is nested less deeply"
    }
  }
}
