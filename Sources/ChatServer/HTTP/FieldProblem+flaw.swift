import ChatProtocol

extension FieldProblem {
  /// The maximum number of problems of one body that are reported.
  static let limit = 32

  init(_ flaw: BodyFlaw) {
    let code = flaw.kind == .unknownField ? ProblemCode.unknownField : .invalidField
    self.init(field: flaw.pointer, code: code.rawValue, detail: flaw.detail)
  }
}

extension BodyFlaw {
  fileprivate var detail: String {
    switch kind {
    case .unknownField: "Unknown field \"\(lastName)\". Check its spelling."
    case .missing: "The field \"\(name)\" is missing."
    case .wrongType: path.isEmpty ? "The body must be a JSON object." : "The field \"\(name)\" has the wrong type."
    case .invalid(let what): (path.isEmpty ? "The body" : "The field \"\(name)\"") + " is invalid: \(what)."
    }
  }

  /// Where the field is in the body, such as `quietHours.from` or `mutedKinds[0]`.
  private var name: String {
    path.reduce("") { name, step in
      switch step {
      case .element(let index): name + "[\(index)]"
      case .member(let member): name.isEmpty ? member : "\(name).\(member)"
      }
    }
  }

  private var lastName: String {
    if case .member(let name) = path.last { name } else { "" }
  }
}
