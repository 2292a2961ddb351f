package import ChatDomain
package import ChatPrimitives

/// Names, IDs and tokens that are unique across streams, and their owners.
package struct UniqueNames: Sendable, Equatable {
  // Keyed by bytes: Swift compares some texts as equal that databases distinguish, such as the two encodings of "é".
  private var usersByExternalID: [[UInt8]: UserID] = [:]
  // `Identity` itself compares by bytes.
  private var usersByIdentity: [Identity: UserID] = [:]
  private var emails = EmailHolders()
  /// By the hashes of their tokens and codes.
  private var invitesByHash: [[UInt8]: InviteReference] = [:]
  private var pushTokens = PushTokenHolders()
  private var registered: Set<UserID> = []

  /// The room or workspace of an invite, in which the invite's ID is unique.
  package enum InviteReference: Sendable, Hashable {
    case room(RoomID, InviteID)
    case workspace(WorkspaceID, InviteID)
  }

  package init() {}

  package func user(withEmail email: String) -> UserID? { emails.user(withEmail: email) }
  package func user(withExternalID externalID: String) -> UserID? {
    usersByExternalID[Array(externalID.utf8)]
  }
  package func user(with identity: Identity) -> UserID? { usersByIdentity[identity] }
  package func isRegistered(_ user: UserID) -> Bool { registered.contains(user) }
  package func devices(holding token: PushToken) -> [DeviceReference] { pushTokens.devices(holding: token) }
  package func invite(withHash hash: [UInt8]) -> InviteReference? { invitesByHash[hash] }

  /// Adds all unique names of a user's state.
  package mutating func enter(_ id: UserID, _ user: User) {
    enter(id, email: user.email, externalID: user.externalID)
    for identity in user.identities.keys { enter(identity, of: id) }
    for (device, state) in user.devices {
      enter(state.description.tokens, of: DeviceReference(user: id, device: device))
    }
  }

  /// Frees all unique names of a user whose account is deleted.
  mutating func leave(_ id: UserID, _ user: User) {
    registered.remove(id)
    emails.leave(id)
    if let externalID = user.externalID, usersByExternalID[Array(externalID.utf8)] == id {
      usersByExternalID[Array(externalID.utf8)] = nil
    }
    for identity in user.identities.keys { leave(identity, of: id) }
    for device in user.devices.keys { enter([], of: DeviceReference(user: id, device: device)) }
  }

  private mutating func enter(_ id: UserID, email: String?, externalID: String?) {
    registered.insert(id)
    if let email { emails.enter(email, of: id) }
    if let externalID { usersByExternalID[Array(externalID.utf8)] = id }
  }

  private mutating func enter(_ identity: Identity, of id: UserID) {
    usersByIdentity[identity] = id
  }

  private mutating func leave(_ identity: Identity, of id: UserID) {
    if usersByIdentity[identity] == id { usersByIdentity[identity] = nil }
  }

  private mutating func enter(_ tokens: [PushToken], of device: DeviceReference) {
    pushTokens.set(tokens, of: device)
  }

  package mutating func enter(_ invite: Invite, of room: RoomID) {
    for hash in invite.hashes { invitesByHash[hash] = .room(room, invite.id) }
  }

  package mutating func enter(_ invite: WorkspaceInvite, of workspace: WorkspaceID) {
    for hash in invite.hashes { invitesByHash[hash] = .workspace(workspace, invite.id) }
  }

  /// Removes the invites of a room or workspace that is deleted.
  mutating func leave(_ hashesOfInvites: [[UInt8]]) {
    for hash in hashesOfInvites { invitesByHash[hash] = nil }
  }

  mutating func take(_ event: ChatEvent) {
    switch event {
    case .user(let id, let event): take(event, of: id)
    case .room(let id, let event): take(event, of: id)
    case .workspace(let id, let event): take(event, of: id)
    case .server: break
    }
  }

  private mutating func take(_ event: UserEvent, of id: UserID) {
    switch event {
    case .account(.registered(let registration)):
      enter(id, email: registration.email, externalID: registration.externalID)
    case .erased:
      // A stream's first event is always the registration, so a user with any event is registered.
      enter(id, email: nil, externalID: nil)
    case .account(.emailSet(let email)):
      emails.enter(email, of: id)
    case .logins(.identityLinked(let identity)):
      enter(identity, of: id)
    case .logins(.identityUnlinked(let identity, _)):
      if let identity { leave(identity, of: id) }
    case .devices(.registered(let device, let description)), .devices(.updated(let device, let description)):
      enter(description.tokens, of: DeviceReference(user: id, device: device))
    case .devices(.tokenInvalidated(let device, let token)):
      pushTokens.remove(token, from: DeviceReference(user: id, device: device))
    case .devices(.tokenTaken(let device, let provider)):
      pushTokens.removeToken(of: provider, from: DeviceReference(user: id, device: device))
    case .devices(.removed(let device)), .devices(.tokenMoved(let device, _)):
      enter([], of: DeviceReference(user: id, device: device))
    case .account(.profileChanged), .account(.disabled), .account(.enabled), .account(.preferencesSet),
      .logins(.credentialSet), .sessions, .media, .blocks:
      break
    // `leave` frees the names, because the event does not contain them.
    case .deletion:
      break
    }
  }

  private mutating func take(_ event: RoomEvent, of id: RoomID) {
    switch event {
    case .sharing(.inviteCreated(let invite)):
      enter(invite, of: id)
    case .lifecycle, .sharing(.inviteRevoked), .members, .messages, .annotations, .reading, .threads, .scheduling,
      .reports, .erased:
      break
    }
  }

  private mutating func take(_ event: WorkspaceEvent, of id: WorkspaceID) {
    switch event {
    case .sharing(.inviteCreated(let invite)): enter(invite, of: id)
    case .lifecycle, .sharing(.inviteRevoked), .members, .invitations, .erased: break
    }
  }
}
