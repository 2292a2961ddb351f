/// The head of one part of a form.
struct FormPartHead: Equatable {
  /// The name of the field that every client may use for a file, even without a file name.
  static let fileField = "file"

  let field: String
  /// Without a path; nil if the part has none, or an empty one.
  let fileName: String?
  private let hasFileName: Bool
  /// As a browser sends it for an input without a chosen file.
  let hasEmptyFileName: Bool

  /// A part with a file name, or in the field `file`.
  var isFile: Bool { hasFileName || field == Self.fileField }

  /// - Parameter bytes: the lines of the head, without the empty one at its end.
  /// - Throws: `head` unless it has exactly one `Content-Disposition`, which is `form-data` with a name.
  init(_ bytes: [UInt8]) throws(MultipartForm.Flaw) {
    var disposition: FormParameters?
    var lines = bytes[...]
    while !lines.isEmpty {
      let line = lines.prefix { $0 != UInt8(ascii: "\r") }
      lines = lines.dropFirst(line.count)
      if !lines.isEmpty {
        guard lines.dropFirst().first == UInt8(ascii: "\n") else { throw .head }
        lines = lines.dropFirst(2)
      }
      guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > line.startIndex else { throw .head }
      guard String(decoding: line[..<colon], as: UTF8.self).lowercased() == "content-disposition" else { continue }
      guard disposition == nil else { throw .head }
      disposition = FormParameters(line[(colon + 1)...])
    }
    guard var disposition, disposition.value()?.lowercased() == "form-data",
      let parameters = disposition.parameters(), let field = parameters["name"]
    else { throw .head }
    self.field = field
    hasFileName = parameters["filename"] != nil
    hasEmptyFileName = parameters["filename"]?.isEmpty == true
    fileName = parameters["filename"].flatMap { Self.withoutPath(Self.unescaped($0)) }
  }

  /// Browsers escape these three characters, and no other (the WHATWG's standard for forms).
  private static func unescaped(_ name: String) -> String {
    var name = name
    for (escape, character) in [("%22", "\""), ("%0D", "\r"), ("%0A", "\n")] {
      name = name.split(separator: escape, omittingEmptySubsequences: false).joined(separator: character)
    }
    return name
  }

  /// Some clients send the path of the file on their machine, which RFC 7578 says to ignore.
  private static func withoutPath(_ name: String) -> String? {
    let last = name.unicodeScalars.split(omittingEmptySubsequences: false) { $0 == "/" || $0 == "\\" }.last
    return last.flatMap { $0.isEmpty ? nil : String(String.UnicodeScalarView($0)) }
  }
}

/// A header field with parameters: `value; name=token; name="quoted"`.
struct FormParameters {
  private var rest: ArraySlice<UInt8>

  init(_ bytes: ArraySlice<UInt8>) {
    rest = bytes
  }

  /// The value before the parameters; nil if it is not valid UTF-8 or empty.
  mutating func value() -> String? {
    skipSpaces()
    let value = take { $0 != UInt8(ascii: ";") && $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") }
    return value.isEmpty ? nil : String(validating: value, as: UTF8.self)
  }

  /// The parameters by their names in lower case; nil if they do not have this form, or if one occurs twice.
  mutating func parameters() -> [String: String]? {
    var found: [String: String] = [:]
    while true {
      skipSpaces()
      guard let separator = rest.popFirst() else { return found }
      guard separator == UInt8(ascii: ";") else { return nil }
      skipSpaces()
      if rest.isEmpty { return found }
      let name = take { $0 != UInt8(ascii: "=") && $0 != UInt8(ascii: ";") }
      guard !name.isEmpty, rest.popFirst() == UInt8(ascii: "="), let value = parameterValue(),
        let text = String(validating: value, as: UTF8.self), let key = String(validating: name, as: UTF8.self)
      else { return nil }
      guard found.updateValue(text, forKey: key.lowercased()) == nil else { return nil }
    }
  }

  /// In a quoted text, a backslash only escapes a quote or a backslash: in a file's path it stands for itself.
  private mutating func parameterValue() -> [UInt8]? {
    guard rest.first == UInt8(ascii: "\"") else {
      return Array(take { $0 != UInt8(ascii: ";") && $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") })
    }
    rest.removeFirst()
    var value: [UInt8] = []
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "\"") { return value }
      if byte == UInt8(ascii: "\\"), let next = rest.first, next == UInt8(ascii: "\"") || next == byte {
        value.append(next)
        rest.removeFirst()
      } else {
        value.append(byte)
      }
    }
    return nil
  }

  private mutating func skipSpaces() { _ = take { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") } }

  private mutating func take(while isWanted: (UInt8) -> Bool) -> ArraySlice<UInt8> {
    let taken = rest.prefix(while: isWanted)
    rest = rest.dropFirst(taken.count)
    return taken
  }
}
