import ChatPrimitives

/// Who may bring whom into rooms (decision 0045).
extension RoomDecider {
  /// Checked for every user whom another user adds to a group. The members of a workspace have agreed to be in its
  /// channels, so the rule does not apply there.
  /// - Parameter workspace: that of the room.
  func requireAddition(
    of user: UserID, in workspace: WorkspaceID?, _ directory: borrowing some Directory
  ) throws(Rejection) {
    guard workspace == nil else { return }
    guard accepts(directory.contactRules(of: user).groupAdditions, of: user, directory) else { throw .additionRefused }
  }

  /// Whether `user` accepts something from the actor. A service that acts for itself is always accepted.
  func accepts(_ rule: ContactRule, of user: UserID, _ directory: borrowing some Directory) -> Bool {
    guard let actor = context.actor else { return true }
    return switch rule {
    case .everyone: true
    case .known: directory.sharesSpace(actor, with: user)
    case .nobody: false
    }
  }
}
