/// An optional that is written as `null` if it is absent, so that a client finds every field of a shape. A cursor at
/// the end of a list is written as `EndCursor` specifies.
@propertyWrapper
public struct Nullable<Value: Codable & Sendable & Hashable>: Codable, Sendable, Hashable {
  public var wrappedValue: Value?

  public init(wrappedValue: Value?) {
    self.wrappedValue = wrappedValue
  }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    wrappedValue = container.decodeNil() ? nil : try container.decode(Value.self)
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    if let wrappedValue {
      try container.encode(wrappedValue)
    } else if let end = EndCursor.text(for: encoder) {
      try container.encode(end)
    } else {
      try container.encodeNil()
    }
  }
}
