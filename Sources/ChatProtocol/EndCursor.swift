/// The value of `nextCursor` and `previousCursor` at the end of a list: null, unless existing apps expect another
/// value.
public enum EndCursor: String, Sendable, CaseIterable {
  case null = "null"
  case empty = ""
  case zero = "0"

  /// The key in an encoder's `userInfo`.
  public static let key: CodingUserInfoKey = {
    guard let key = CodingUserInfoKey(rawValue: "hansard.endCursor") else {
      preconditionFailure("a key of an encoder's settings may have any name")
    }
    return key
  }()

  private static let fields: Set<String> = ["nextCursor", "previousCursor"]

  /// What is written for an absent value of a field; nil if null is written.
  static func text(for encoder: any Encoder) -> String? {
    guard let end = encoder.userInfo[key] as? EndCursor, end != .null, let field = encoder.codingPath.last?.stringValue,
      fields.contains(field)
    else { return nil }
    return end.rawValue
  }
}
