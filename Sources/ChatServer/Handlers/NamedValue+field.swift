import ChatDomain

extension NamedValue {
  /// The value that a client named in a field of its request.
  init(_ name: String, field: String) throws {
    guard let value = Self(name: name) else {
      let names = Self.allCases.map(\.name).joined(separator: ", ")
      throw Refusal.invalidField("\(field) must be one of \(names).", at: "/\(field)")
    }
    self = value
  }
}
