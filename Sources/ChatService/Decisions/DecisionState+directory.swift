package import ChatDomain
package import ChatPrimitives

/// What deciders can read of other streams.
extension DecisionState: Directory {
  package func user(withEmail email: String) -> UserID? { names.user(withEmail: email) }
  package func user(withExternalID externalID: String) -> UserID? { names.user(withExternalID: externalID) }
  package func user(with identity: Identity) -> UserID? { names.user(with: identity) }
  package func isRegistered(_ user: UserID) -> Bool { names.isRegistered(user) }
  package func hasInvite(withHash hash: [UInt8]) -> Bool { names.invite(withHash: hash) != nil }
  package var allowsInvitesWithoutExpiry: Bool { rules.allowsInvitesWithoutExpiry }

  package func isDisabled(_ user: UserID) -> Bool {
    switch users[user]?.state {
    case .registered(let known)?: known.disabled != nil
    case .deleted?: true
    case .absent?, nil: false
    }
  }

  package func isDeleted(_ user: UserID) -> Bool {
    if case .deleted? = users[user]?.state { true } else { false }
  }

  package func isBlocked(_ user: UserID, by blocker: UserID) -> Bool {
    guard case .registered(let known)? = users[blocker]?.state else { return false }
    return known.blockedUsers[user] != nil
  }

  package func acceptsDirectMessages(_ user: UserID) -> Bool {
    switch users[user]?.state {
    case .registered(let known)?: known.preferences.acceptsDirectMessages
    case .deleted?: false
    case .absent?, nil: true
    }
  }

  package func contactRules(of user: UserID) -> ContactRules {
    guard case .registered(let known)? = users[user]?.state else { return ContactRules() }
    return known.preferences.contacts
  }

  package func sharesSpace(_ user: UserID, with other: UserID) -> Bool {
    spaces.areShared(by: user, and: other, room: { room($0) }, role: { role(of: $0, in: $1) })
  }

  package func devices(holding token: PushToken) -> [DeviceReference] { names.devices(holding: token) }

  package func role(of user: UserID, in workspace: WorkspaceID) -> WorkspaceRole? {
    workspaces[workspace]?.state.workspace?.members[user]?.role
  }

  package func directRooms(of user: UserID, in workspace: WorkspaceID) -> Set<RoomID> {
    directRooms.rooms(of: user, in: workspace)
  }

  package func channels(of workspace: WorkspaceID) -> [RoomID]? {
    guard case .open? = workspaces[workspace]?.state else { return nil }
    return channels[workspace]?.sorted() ?? []
  }

  package func room(_ id: RoomID) -> Room? { rooms[id]?.state.room }

  /// Adds a channel that is created, and removes one that is deleted. Must be called before the event is applied to the
  /// room.
  mutating func noteChannel(_ room: RoomID, _ event: RoomEvent) {
    switch event {
    case .lifecycle(.created(let creation)):
      guard let workspace = creation.workspace, creation.kind != .direct, rooms[room] == nil else { return }
      channels[workspace, default: []].insert(room)
    case .lifecycle(.deleted):
      guard let workspace = rooms[room]?.state.room?.workspace else { return }
      channels[workspace]?.remove(room)
      if channels[workspace]?.isEmpty == true { channels[workspace] = nil }
    case .lifecycle(.edited), .lifecycle(.archived), .lifecycle(.restored), .sharing, .members, .messages, .annotations,
      .reading, .threads, .scheduling, .reports, .erased:
      break
    }
  }
}
