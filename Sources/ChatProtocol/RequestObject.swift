/// A JSON object that a client sends. It may contain only the keys that its type declares: any other is rejected,
/// because it is more often a misspelling than intended.
public protocol RequestObject: Codable, BodyShape {
  associatedtype CodingKeys: CodingKey, CaseIterable
}

extension RequestObject {
  public static var format: BodyFormat { .json(Self.self) }
}

/// Decodes a body and rejects fields that it does not have.
public struct Strict<Body: RequestObject>: Codable, Sendable {
  public let body: Body

  public init(from decoder: any Decoder) throws {
    for key in try decoder.container(keyedBy: FieldName.self).allKeys {
      // Compares bytes, because decoding does not find a field under a name that is only canonically equal.
      guard let known = Body.CodingKeys(stringValue: key.stringValue),
        known.stringValue.utf8.elementsEqual(key.stringValue.utf8)
      else {
        let unknown = UnknownField(name: key.stringValue)
        guard let flaws = (decoder as? JSONDocumentDecoder)?.flaws else { throw unknown }
        try flaws.note(unknown, in: decoder.codingPath)
        continue
      }
    }
    body = try Body(from: decoder)
  }

  public init(_ body: Body) {
    self.body = body
  }

  public func encode(to encoder: any Encoder) throws { try body.encode(to: encoder) }
}

/// A request has a field that its endpoint does not have.
public struct UnknownField: Error, Hashable {
  public let name: String
}

private struct FieldName: CodingKey {
  let stringValue: String
  var intValue: Int? { nil }

  init(stringValue: String) {
    self.stringValue = stringValue
  }

  init?(intValue: Int) {
    nil
  }
}
