package import ChatDomain
import ChatPrimitives

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
  /// A rejected command. If the reason is the form of a field, all fields with a wrong form are reported.
  init(_ rejection: Rejection, of operation: ChatCommand.Operation, at time: Timestamp) {
    let flaws = operation.fieldFlaws(at: time)
    guard flaws.first?.rejection == rejection else {
      self = .rejected(rejection)
      return
    }
    self = .malformed(flaws.map { InputFlaw($0) })
  }
}

extension ChatCommand.Operation {
  /// - Parameter time: that of the command. The form of a time in a command depends on it.
  fileprivate func fieldFlaws(at time: Timestamp) -> [FieldFlaw] {
    switch self {
    case .user(_, let command): command.fieldFlaws
    case .room(_, .sharing(.createInvite(let invite))), .roomInvite(_, let invite): invite.fieldFlaws(at: time)
    case .room(_, .scheduling(let command)): command.fieldFlaws(at: time)
    case .room(_, let command): command.fieldFlaws
    case .workspace(_, .sharing(.createInvite(let invite))), .workspaceInvite(_, let invite):
      invite.fieldFlaws(at: time)
    case .workspace(_, let command): command.fieldFlaws
    case .acceptInvite, .server, .rotateSigningKey, .legalHold: []
    }
  }
}
