import ChatProtocol

/// Converts the fields of a body, and collects the problems of all fields instead of stopping at the first.
struct FieldValues {
  private(set) var problems: [FieldProblem] = []

  /// - Returns: nil if the field has a problem.
  mutating func value<Value>(_ convert: () throws -> Value) throws -> Value? {
    do {
      return try convert()
    } catch Refusal.invalidField(let why, let pointer) {
      add(FieldProblem(field: pointer ?? "", code: ProblemCode.invalidField.rawValue, detail: why))
      return nil
    }
  }

  mutating func add(_ problem: FieldProblem) { problems.append(problem) }

  /// - Parameter further: problems that a later step would find. They are reported together with those of this step, but
  ///   alone they do not reject the body here.
  func requireNone(further: [FieldProblem] = []) throws(Refusal) {
    guard !problems.isEmpty else { return }
    throw .invalidFields(Array((problems + further).prefix(FieldProblem.limit)))
  }
}
