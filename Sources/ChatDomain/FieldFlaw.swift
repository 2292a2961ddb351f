/// What is wrong with one field of a command.
package struct FieldFlaw: Hashable, Sendable {
  /// The field under the name that it has in the API, as a JSON pointer, such as `/attachments/0/name`. Empty if it is not
  /// one field.
  package let field: String
  package let rejection: Rejection

  package init(_ field: String, _ rejection: Rejection) {
    self.field = field
    self.rejection = rejection
  }
}

/// Checks the rules for the form of fields, which depend only on the command, and collects what is wrong. Decisions throw
/// the first flaw; a response reports all of them.
struct FieldCheck {
  private(set) var flaws: [FieldFlaw] = []

  mutating func check(_ field: @autoclosure () -> String, _ rule: () throws(Rejection) -> Void) {
    do throws(Rejection) {
      try rule()
    } catch {
      flaws.append(FieldFlaw(field(), error))
    }
  }
}

extension [FieldFlaw] {
  func requireNone() throws(Rejection) {
    if let first { throw first.rejection }
  }
}
