/// Any JSON value: what an app says in its own language. It is read once and kept as its canonical text, in which it is
/// written out again: the names of members in order, no white space, numbers and strings each in one form. The same value
/// always has the same text.
public struct CanonicalJSON: Sendable, Hashable {
  public let canonicalText: String

  /// - Parameter canonicalText: of a value that was read before. It is not looked at: an old log may hold deeper values
  ///   than are accepted now.
  public init(unchecked canonicalText: String) {
    self.canonicalText = canonicalText
  }

  public static let null = CanonicalJSON(unchecked: "null")
}

extension CanonicalJSON: Codable {
  /// Only out of a `JSONDocument`: another decoder would have to guess each value's type.
  public init(from decoder: any Decoder) throws {
    guard let decoder = decoder as? JSONDocumentDecoder else {
      throw DecodingError.dataCorrupted(
        DecodingError.Context(codingPath: decoder.codingPath, debugDescription: "decode it with JSONDocument"))
    }
    self.init(unchecked: try decoder.canonicalText())
  }

  /// Only by a `JSONWriter`: no other encoder writes a text as it stands.
  public func encode(to encoder: any Encoder) throws {
    guard let encoder = encoder as? CanonicalJSONEncoder else {
      throw EncodingError.invalidValue(
        self, EncodingError.Context(codingPath: encoder.codingPath, debugDescription: "encode it with JSONWriter"))
    }
    encoder.write(json: canonicalText)
  }
}
