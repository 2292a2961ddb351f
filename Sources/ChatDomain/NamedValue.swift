/// An enumeration whose values have names in the API.
package protocol NamedValue: CaseIterable, Sendable {
  /// What clients send and get. Names are unique.
  var name: String { get }
}

extension NamedValue {
  /// Nil if no value has this name.
  package init?(name: String) {
    guard let value = Self.allCases.first(where: { $0.name == name }) else { return nil }
    self = value
  }
}
