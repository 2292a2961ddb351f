import ChatPrimitives

/// Who acts in a room.
enum RoomActor {
  case member(UserID, Member)
  /// A service that acts for itself, not in a user's name.
  case service
}

/// What the actor may do to a room and its members.
enum Authority {
  case role(Role)
  /// A service that acts for itself.
  case service

  /// The highest role that the actor may give.
  var highestRole: Role {
    switch self {
    case .role(let role): role
    case .service: .owner
    }
  }
}

/// Membership and role. Users who cannot see the room get the same response as for a room that does not exist.
///
/// A service that acts in a user's name has only that user's rights, except that it may add the user to the room.
extension RoomDecider {
  func roomActor() throws(Rejection) -> RoomActor { try roomActor(in: room()) }

  private func roomActor(in room: Room) throws(Rejection) -> RoomActor {
    guard let actor = context.actor else { return .service }
    guard let member = room.members[actor] else { throw .roomNotFound }
    return .member(actor, member)
  }

  func requireMember() throws(Rejection) {
    switch try roomActor() {
    case .member: return
    case .service: throw .forbidden
    }
  }

  /// Requires a member who is not silenced. In a direct room of two, neither member may refuse the other's direct
  /// messages. Used for everything that others see.
  func requireVoice(_ directory: borrowing some Directory) throws(Rejection) {
    let room = try room()
    switch try roomActor(in: room) {
    case .member(_, let member):
      if let until = member.silencedUntil, until > context.time { throw .memberSilenced }
      if refusesDirectMessages(room, directory) { throw .directMessagesRefused }
    case .service: throw .forbidden
    }
  }

  func requireAdministrator(_ directory: borrowing some Directory) throws(Rejection) {
    _ = try changeableRoom(directory)
    guard try authority(directory).highestRole >= .administrator else { throw .forbidden }
  }

  /// The room, if the actor can reach it. Not a direct room, whose members and name are fixed.
  func changeableRoom(_ directory: borrowing some Directory) throws(Rejection) -> Room {
    _ = try authority(directory)
    let room = try room()
    guard room.kind != .direct else { throw .directRoomFixed }
    return room
  }

  // MARK: Authority

  func authority(_ directory: borrowing some Directory) throws(Rejection) -> Authority {
    let room = try room()
    guard let user = context.actor else { return .service }
    guard let role = room.role(of: user, directory) else { throw .roomNotFound }
    return .role(role)
  }

  func requireAuthority(over role: Role, _ directory: borrowing some Directory) throws(Rejection) {
    switch try authority(directory) {
    case .role(let own): guard role < own else { throw .forbidden }
    case .service: return
    }
  }
}

extension Room {
  /// The user's role in the room, from the membership or from the role in the workspace.
  func role(of user: UserID, _ directory: borrowing some Directory) -> Role? {
    let role = members[user]?.role
    return isOverseen(by: user, directory) ? max(role ?? .administrator, .administrator) : role
  }

  /// Whether the room is a public channel of a workspace that the user administers. Then the user counts as its
  /// administrator, also without being a member.
  func isOverseen(by user: UserID, _ directory: borrowing some Directory) -> Bool {
    guard isPublic, let role = workspaceRole(of: user, directory) else { return false }
    return role >= .administrator
  }

  /// Whether the user can find the room: a public channel of a workspace of which the user is a member but not a guest.
  func isFound(by user: UserID, _ directory: borrowing some Directory) -> Bool {
    guard isPublic, let role = workspaceRole(of: user, directory) else { return false }
    return role >= .member
  }

  private func workspaceRole(of user: UserID, _ directory: borrowing some Directory) -> WorkspaceRole? {
    guard let workspace else { return nil }
    return directory.role(of: user, in: workspace)
  }
}
