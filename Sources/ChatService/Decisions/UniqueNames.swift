package import ChatDomain
package import ChatPrimitives

/// What is unique across streams, and whose it is.
package struct UniqueNames: Directory, Sendable, Equatable {
  // Keyed by bytes: Swift calls texts equal that SQLite and other databases tell apart, such as "é" in its two spellings.
  private var usersByEmail: [[UInt8]: UserID] = [:]
  private var usersByExternalID: [[UInt8]: UserID] = [:]
  private var invitesByTokenHash: [[UInt8]: InvitePlace] = [:]
  private var registered: Set<UserID> = []

  package struct InvitePlace: Sendable, Hashable {
    package let room: RoomID
    package let invite: InviteID
  }

  package init() {}

  package func user(withEmail email: String) -> UserID? { usersByEmail[Array(email.utf8)] }
  package func user(withExternalID externalID: String) -> UserID? {
    usersByExternalID[Array(externalID.utf8)]
  }
  package func isRegistered(_ user: UserID) -> Bool { registered.contains(user) }
  package func invite(withTokenHash hash: [UInt8]) -> InvitePlace? { invitesByTokenHash[hash] }

  package mutating func enter(_ id: UserID, email: String?, externalID: String?) {
    registered.insert(id)
    if let email { usersByEmail[Array(email.utf8)] = id }
    if let externalID { usersByExternalID[Array(externalID.utf8)] = id }
  }

  package mutating func enter(_ invite: Invite, of room: RoomID) {
    invitesByTokenHash[invite.tokenHash] = InvitePlace(room: room, invite: invite.id)
  }

  mutating func take(_ event: ChatEvent) {
    switch event {
    case .user(let id, let event): take(event, of: id)
    case .room(let id, let event): take(event, of: id)
    case .workspace, .server: break
    }
  }

  private mutating func take(_ event: UserEvent, of id: UserID) {
    switch event {
    case .registered(let registration):
      enter(id, email: registration.email, externalID: registration.externalID)
    case .erased:
      // A stream's first fact is always the registration, so whoever has any fact is registered.
      enter(id, email: nil, externalID: nil)
    case .profileChanged, .credentialSet, .identityLinked, .emailSet, .disabled, .enabled, .preferencesSet,
      .sessionStarted, .sessionRefreshed, .sessionEnded, .deviceRegistered, .deviceUpdated, .pushTokenInvalidated,
      .deviceRemoved, .pushTokenMoved, .mediaUploaded:
      break
    }
  }

  private mutating func take(_ event: RoomEvent, of id: RoomID) {
    switch event {
    case .inviteCreated(let invite):
      enter(invite, of: id)
    case .created, .edited, .archived, .restored, .deleted, .inviteRevoked, .memberJoined, .memberAdded,
      .admissionRepeated, .memberLeft, .memberRemoved, .roleChanged, .memberBanned, .memberUnbanned, .memberSilenced,
      .muted, .messageSent, .messageEdited, .messageDeleted, .reactionAdded, .reactionRemoved, .messagePinned,
      .messageUnpinned, .readMarkerMoved, .threadMarkerMoved, .markedUnread, .threadFollowingSet, .messageScheduled,
      .scheduledMessageChanged, .scheduledMessageCancelled, .scheduledMessageFailed, .erased:
      break
    }
  }
}
