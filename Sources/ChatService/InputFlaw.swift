package import ChatDomain

/// What is wrong with one field of a request.
package struct InputFlaw: Sendable, Hashable {
  package enum Reason: Sendable, Hashable {
    case rejection(Rejection)
    case input(InvalidInput)
  }

  /// A JSON pointer into the body; empty if it is not one field.
  package let field: String
  package let reason: Reason

  init(_ flaw: FieldFlaw) {
    (field, reason) = (flaw.field, .rejection(flaw.rejection))
  }

  init(_ field: String, _ input: InvalidInput) {
    (self.field, reason) = (field, .input(input))
  }
}

extension ServiceError {
  /// - Parameter flaws: at least one.
  init(_ first: InputFlaw, _ flaws: [InputFlaw]) {
    guard flaws.count < 2 else {
      self = .malformed(flaws)
      return
    }
    switch first.reason {
    case .rejection(let rejection): self = .rejected(rejection)
    case .input(let input): self = .invalid(input)
    }
  }

  /// A rejected command. If the reason is the form of a field, and other fields have a wrong form too, all are reported.
  init(_ rejection: Rejection, of operation: ChatCommand.Operation) {
    let flaws = operation.fieldFlaws
    guard flaws.count > 1, flaws.first?.rejection == rejection else {
      self = .rejected(rejection)
      return
    }
    self = .malformed(flaws.map { InputFlaw($0) })
  }
}

extension ChatCommand.Operation {
  fileprivate var fieldFlaws: [FieldFlaw] {
    switch self {
    case .user(_, let command): command.fieldFlaws
    case .room(_, let command): command.fieldFlaws
    case .workspace(_, let command): command.fieldFlaws
    case .roomInvite, .workspaceInvite, .acceptInvite, .server, .rotateSigningKey, .legalHold: []
    }
  }
}
