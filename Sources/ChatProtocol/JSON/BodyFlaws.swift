/// The flaws of a body, collected while it is decoded once more. Where a value is wrong, decoding continues with a sample, so
/// that the flaws behind it are found too.
final class BodyFlaws {
  private let limit: Int
  private(set) var found: [BodyFlaw] = []

  init(limit: Int) {
    self.limit = limit
  }

  private struct Full: Error {}

  func note(_ flaw: BodyFlaw) throws {
    found.append(flaw)
    if found.count >= limit { throw Full() }
  }

  func note(_ unknown: UnknownField, in path: [any CodingKey]) throws {
    let steps = path.map { BodyFlaw.Step($0) } + [.member(unknown.name)]
    try note(BodyFlaw(path: steps, kind: .unknownField))
  }

  /// - Returns: the value, or a sample if the error says what is wrong with the body.
  func value<Value: Decodable>(_ type: Value.Type, _ decode: () throws -> Value) throws -> Value {
    do {
      return try decode()
    } catch {
      guard let flaw = BodyFlaw(error) else { throw error }
      try note(flaw)
      return try ShapeReader().read(type)
    }
  }
}

extension JSONDocument {
  /// What is wrong with the document as a value of this type, in the order in which it is decoded: first unknown fields,
  /// then the fields of the type.
  /// - Parameter limit: the maximum number of flaws.
  public func flaws<Body: RequestObject>(as type: Body.Type, atMost limit: Int) -> [BodyFlaw] {
    let flaws = BodyFlaws(limit: limit)
    do {
      _ = try Strict<Body>(from: JSONDocumentDecoder(self, flaws: flaws))
    } catch {
      if flaws.found.isEmpty, let flaw = BodyFlaw(error) { return [flaw] }
    }
    return flaws.found
  }
}
