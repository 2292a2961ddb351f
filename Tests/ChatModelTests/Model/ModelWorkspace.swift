import ChatDomain
import ChatPrimitives

/// One workspace. Its channels are rooms.
struct ModelWorkspace {
  let id: WorkspaceID
  var creation: WorkspaceCreation?
  var created: Stamp?
  var name = ""
  var topic: String?
  var picture: MediaID?
  var revision = LogPosition.origin
  var isDeleted = false
  /// In the order in which they joined.
  var members: [ModelWorkspaceMember] = []
  /// In the order of their creation.
  var invites: [ModelInvite<WorkspaceRole>] = []
  /// The open invitations, in the order in which they were sent.
  var invitations: [ModelInvitation] = []

  init(id: WorkspaceID) {
    self.id = id
  }

  var exists: Bool { creation != nil && !isDeleted }
  var age: LogPosition { created?.position ?? .origin }
  func member(_ user: UserID) -> ModelWorkspaceMember? { members.first { $0.user == user } }
  func invitation(_ user: UserID) -> ModelInvitation? { invitations.first { $0.user == user } }

  /// The role that a link, or else the user's invitation, gives now; nil if there is neither.
  func given(to user: UserID, by method: WorkspaceJoinMethod) -> WorkspaceRole? {
    if case .link(let id) = method {
      return invites.first { $0.link.id == id }.map { given($0.link.role, by: $0.creator) }
    }
    return invitation(user).map { given($0.role, by: $0.by) }
  }

  /// No more than the giver has now. A giver who is gone can give at most the role of a member.
  func given(_ role: WorkspaceRole, by giver: UserID?) -> WorkspaceRole {
    guard let giver else { return role }
    return min(role, member(giver)?.role ?? .member)
  }
}

struct ModelWorkspaceMember: Equatable {
  let user: UserID
  var role: WorkspaceRole
  let joined: Stamp
}

struct ModelInvitation: Equatable {
  let user: UserID
  let role: WorkspaceRole
  let by: UserID?
  let stamp: Stamp
}

extension ModelWorkspace {
  mutating func take(_ event: WorkspaceEvent, _ recorded: RecordedEvent) {
    switch event {
    case .lifecycle(.created(let creation)):
      self.creation = creation
      created = recorded.stamp
      name = creation.name
      topic = creation.topic
      revision = recorded.position
    case .lifecycle(.edited(let edit)):
      if let name = edit.name { self.name = name }
      if let topic = edit.topic { self.topic = topic.isEmpty ? nil : topic }
      if case .set(let media) = edit.picture { picture = media }
      if case .remove = edit.picture { picture = nil }
      revision = recorded.position
    case .lifecycle(.deleted): isDeleted = true
    case .sharing(.inviteCreated(let link)):
      invites.append(ModelInvite(link: link, created: recorded.stamp, creator: recorded.actor))
    case .sharing(.inviteRevoked(let id)):
      if let index = invites.firstIndex(where: { $0.link.id == id }) { invites[index].revoked = recorded.stamp }
    case .members(.joined(let user, let role, let method)):
      members.removeAll { $0.user == user }
      members.append(ModelWorkspaceMember(user: user, role: role, joined: recorded.stamp))
      invitations.removeAll { $0.user == user }
      if case .link(let invite) = method, let index = invites.firstIndex(where: { $0.link.id == invite }) {
        invites[index].uses += 1
      }
    case .members(.left(let user)), .members(.removed(let user)): members.removeAll { $0.user == user }
    case .invitations(.invited(let user, let role)):
      // An invitation of a member is recorded only for the key.
      guard member(user) == nil else { return }
      invitations.removeAll { $0.user == user }
      invitations.append(ModelInvitation(user: user, role: role, by: recorded.actor, stamp: recorded.stamp))
    case .invitations(.withdrawn(let user)): invitations.removeAll { $0.user == user }
    case .members(.roleChanged(let user, let role)):
      if let index = members.firstIndex(where: { $0.user == user }) { members[index].role = role }
    case .members(.admissionRepeated), .erased: break
    }
  }
}
