import HTTPTypes

/// The type, character set and encoding that a request's headers declare for its body.
enum DeclaredBody {
  /// Rejects a body that is declared as another type, in another character set, or compressed. A body that declares
  /// nothing is read as what the endpoint takes.
  static func require(_ expected: [String], _ headers: HTTPFields) throws(Refusal) {
    if let encoding = headers[.contentEncoding], !encoding.isEmpty, !isEqual(encoding, "identity") {
      throw .unsupportedMediaType
    }
    guard let declared = headers[.contentType] else { return }
    let parts = declared.split(separator: ";", omittingEmptySubsequences: false).map(trimmed)
    guard let type = parts.first, expected.contains(where: { isEqual(type, $0) }) else { throw .unsupportedMediaType }
    for parameter in parts.dropFirst() {
      let halves = parameter.split(separator: "=", maxSplits: 1).map(trimmed)
      guard halves.count == 2, isEqual(halves[0], "charset") else { continue }
      guard isEqual(halves[1].filter { $0 != "\"" }, "utf-8") else { throw .unsupportedMediaType }
    }
  }

  private static func trimmed(_ text: some StringProtocol) -> String {
    let isBlank: (Character) -> Bool = { $0 == " " || $0 == "\t" }
    var trimmed = Substring(text).drop(while: isBlank)
    while let last = trimmed.last, isBlank(last) { trimmed.removeLast() }
    return String(trimmed)
  }

  /// Ignores the case of `text`; `name` must be in lower case.
  private static func isEqual(_ text: String, _ name: String) -> Bool { text.lowercased() == name }
}
