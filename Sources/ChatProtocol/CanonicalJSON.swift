/// Any JSON value, for an app's own data. It is read once and stored as its canonical text, which is also what is sent:
/// the names of members are sorted, there is no white space, and numbers and strings have one form each. The same value
/// always has the same text.
public struct CanonicalJSON: Sendable, Hashable {
  public let canonicalText: String

  /// - Parameter canonicalText: the text of a value that was read before. It is not checked, because an old log may
  ///   contain deeper values than are accepted now.
  public init(unchecked canonicalText: String) {
    self.canonicalText = canonicalText
  }

  public static let null = CanonicalJSON(unchecked: "null")
}

extension CanonicalJSON: Codable {
  /// Decodes only from a `JSONDocument`: another decoder would have to guess each value's type.
  public init(from decoder: any Decoder) throws {
    guard let decoder = decoder as? JSONDocumentDecoder else {
      throw DecodingError.dataCorrupted(
        DecodingError.Context(codingPath: decoder.codingPath, debugDescription: "decode it with JSONDocument"))
    }
    self.init(unchecked: try decoder.canonicalText())
  }

  /// Encodes only with a `JSONWriter`: no other encoder can write a text unchanged.
  public func encode(to encoder: any Encoder) throws {
    guard let encoder = encoder as? CanonicalJSONEncoder else {
      throw EncodingError.invalidValue(
        self, EncodingError.Context(codingPath: encoder.codingPath, debugDescription: "encode it with JSONWriter"))
    }
    encoder.write(json: canonicalText)
  }
}
