package import ChatDomain
package import ChatPrimitives

/// What is unique across streams, and whose it is.
package struct UniqueNames: Directory, Sendable, Equatable {
  private var usersByEmail: [String: UserID] = [:]
  private var usersByExternalID: [String: UserID] = [:]
  private var invitesByTokenHash: [[UInt8]: InvitePlace] = [:]
  private var registered: Set<UserID> = []

  package struct InvitePlace: Sendable, Hashable {
    package let room: RoomID
    package let invite: InviteID
  }

  package init() {}

  package func user(withEmail email: String) -> UserID? { usersByEmail[email] }
  package func user(withExternalID externalID: String) -> UserID? { usersByExternalID[externalID] }
  package func isRegistered(_ user: UserID) -> Bool { registered.contains(user) }
  package func invite(withTokenHash hash: [UInt8]) -> InvitePlace? { invitesByTokenHash[hash] }

  package mutating func enter(_ id: UserID, email: String?, externalID: String?) {
    registered.insert(id)
    if let email { usersByEmail[email] = id }
    if let externalID { usersByExternalID[externalID] = id }
  }

  package mutating func enter(_ invite: Invite, of room: RoomID) {
    invitesByTokenHash[invite.tokenHash] = InvitePlace(room: room, invite: invite.id)
  }

  mutating func take(_ event: ChatEvent) {
    switch event {
    case .user(let id, .registered(let registration)):
      enter(id, email: registration.email, externalID: registration.externalID)
    case .user(let id, .erased(kind: 1)):
      registered.insert(id)
    case .room(let room, .inviteCreated(let invite)):
      enter(invite, of: room)
    case .user, .room, .server: break
    }
  }
}
