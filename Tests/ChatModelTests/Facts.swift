import ChatDomain

/// The kinds of facts, by the names of their cases.
enum Facts {
  static func name(of event: ChatEvent) -> String {
    switch event {
    case .user(_, let event): "user.\(label(event))"
    case .room(_, let event): "room.\(label(event))"
    case .workspace(_, let event): "workspace.\(label(event))"
    case .server(let event): "server.\(label(event))"
    }
  }

  /// A case with a payload has it as its one child; one without is its own name.
  private static func label(_ event: Any) -> String {
    Mirror(reflecting: event).children.first?.label ?? "\(event)"
  }

  /// All that the generator's commands can record, and so all that must come up.
  static let all: Set<String> = Set(
    [
      "registered", "profileChanged", "credentialSet", "identityLinked", "identityUnlinked", "emailSet", "disabled",
      "enabled",
      "preferencesSet", "sessionStarted", "sessionRefreshed", "sessionEnded", "deviceRegistered", "deviceUpdated",
      "pushTokenInvalidated", "deviceRemoved", "pushTokenMoved", "mediaUploaded",
    ].map { "user.\($0)" }
      + [
        "created", "edited", "archived", "restored", "deleted", "inviteCreated", "inviteRevoked", "memberJoined",
        "memberAdded", "admissionRepeated", "memberLeft", "memberRemoved", "roleChanged", "memberBanned",
        "memberUnbanned", "memberSilenced", "muted", "messageSent", "messageEdited", "messageDeleted",
        "reactionAdded", "reactionRemoved", "messagePinned", "messageUnpinned", "readMarkerMoved",
        "threadMarkerMoved", "markedUnread", "threadFollowingSet", "messageScheduled", "scheduledMessageChanged",
        "scheduledMessageCancelled", "scheduledMessageFailed",
      ].map { "room.\($0)" }
      + [
        "created", "edited", "deleted", "inviteCreated", "inviteRevoked", "memberJoined", "memberLeft",
        "memberRemoved", "admissionRepeated", "memberInvited", "invitationWithdrawn", "roleChanged",
      ].map { "workspace.\($0)" } + ["server.signingKeyRotated"])
}
