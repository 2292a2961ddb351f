/// A choice among a few values, each with a name in the API.
package protocol NamedValue: CaseIterable, Sendable {
  /// What clients send and get. No two values have the same.
  var name: String { get }
}

extension NamedValue {
  /// Nil if no value has this name.
  package init?(name: String) {
    guard let value = Self.allCases.first(where: { $0.name == name }) else { return nil }
    self = value
  }
}
