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

  /// The family and the case. A case with a payload has it as its one child; one without is its own name.
  private static func label(_ event: Any) -> String {
    guard let family = Mirror(reflecting: event).children.first, let name = family.label else { return "\(event)" }
    let isFamily = Mirror(reflecting: family.value).displayStyle == .enum
    return isFamily ? "\(name).\(label(family.value))" : name
  }

  /// All that the generator's commands can record, and so all that must come up.
  static let all: Set<String> = Set(
    [
      "account.registered", "account.profileChanged", "account.emailSet", "account.disabled", "account.enabled",
      "account.preferencesSet", "logins.credentialSet", "logins.identityLinked", "logins.identityUnlinked",
      "sessions.started", "sessions.refreshed", "sessions.ended", "devices.registered", "devices.updated",
      "devices.removed", "devices.tokenInvalidated", "devices.tokenMoved", "media.uploaded",
    ].map { "user.\($0)" }
      + [
        "lifecycle.created", "lifecycle.edited", "lifecycle.archived", "lifecycle.restored", "lifecycle.deleted",
        "sharing.inviteCreated", "sharing.inviteRevoked", "members.joined", "members.added",
        "members.admissionRepeated", "members.left", "members.removed", "members.roleChanged", "members.banned",
        "members.unbanned", "members.silenced", "members.muted", "messages.sent", "messages.edited",
        "messages.deleted", "annotations.reactionAdded", "annotations.reactionRemoved", "annotations.pinned",
        "annotations.unpinned", "reading.markerMoved", "reading.markedUnread", "threads.markerMoved",
        "threads.followingSet", "scheduling.scheduled", "scheduling.changed", "scheduling.cancelled",
        "scheduling.failed",
      ].map { "room.\($0)" }
      + [
        "lifecycle.created", "lifecycle.edited", "lifecycle.deleted", "sharing.inviteCreated",
        "sharing.inviteRevoked", "members.joined", "members.left", "members.removed", "members.admissionRepeated",
        "members.roleChanged", "invitations.invited", "invitations.withdrawn",
      ].map { "workspace.\($0)" } + ["server.signingKeyRotated"])
}
