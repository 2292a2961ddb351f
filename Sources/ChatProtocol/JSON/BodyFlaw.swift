/// One thing that is wrong with a JSON body that could be read.
public struct BodyFlaw: Sendable, Hashable {
  public enum Kind: Sendable, Hashable {
    case unknownField
    case missing
    case wrongType
    /// The text says what is wrong, without a full stop.
    case invalid(String)
  }

  /// One step from a value to a value within it.
  public enum Step: Sendable, Hashable {
    case member(String)
    case element(Int)
  }

  /// Where it is; empty for the whole body.
  public let path: [Step]
  public let kind: Kind

  public init(path: [Step], kind: Kind) {
    self.path = path
    self.kind = kind
  }

  /// The path as a JSON pointer (RFC 6901).
  public var pointer: String { path.map { "/" + $0.token }.joined() }
}

extension BodyFlaw.Step {
  init(_ key: any CodingKey) {
    self = key.intValue.map { .element($0) } ?? .member(key.stringValue)
  }

  fileprivate var token: String {
    switch self {
    case .element(let index): String(index)
    case .member(let name):
      String(
        name.flatMap { character in
          switch character {
          case "~": "~0"
          case "/": "~1"
          default: String(character)
          }
        })
    }
  }
}

extension BodyFlaw {
  /// What an error of decoding says about the body; nil if it says nothing about it.
  public init?(_ error: any Error) {
    func steps(_ keys: [any CodingKey]) -> [Step] { keys.map { Step($0) } }
    switch error {
    case let unknown as UnknownField: self.init(path: [.member(unknown.name)], kind: .unknownField)
    case DecodingError.keyNotFound(let key, let context):
      self.init(path: steps(context.codingPath + [key]), kind: .missing)
    case DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context):
      self.init(path: steps(context.codingPath), kind: .wrongType)
    case DecodingError.dataCorrupted(let context):
      self.init(path: steps(context.codingPath), kind: .invalid(context.debugDescription))
    default: return nil
    }
  }
}
