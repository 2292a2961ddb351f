import ChatPrimitives

/// As whom an act reaches a room.
enum Standing {
  case member(UserID, Member)
  /// A service that acts for itself and in nobody's name.
  case service
}

/// How much an act can do to a room and its members.
enum Authority {
  case role(Role)
  /// A service that acts for itself.
  case service

  /// The highest role that it may give.
  var highestRole: Role {
    switch self {
    case .role(let role): role
    case .service: .owner
    }
  }
}

extension RoomDecider {
  /// Membership, role and authorship. A stranger is told that there is no such room, and so learns nothing.
  ///
  /// A service that acts in a user's name has that user's rights and no more, save that it may bring the user in.
  package static func authorize(
    _ command: RoomCommand, by act: Act, in state: RoomState, _ directory: borrowing some Directory
  ) throws(Rejection) {
    guard act.isByService || act.actor != nil else { throw .forbidden }
    switch command {
    case .create(let creation):
      try authorizeCreation(creation, by: act, directory)
    case .acceptInvite(let id):
      try requireRegisteredActor(of: act, directory)
      guard let room = state.room, room.invites[id] != nil else { throw .inviteNotFound }
      guard room.banned[try actor(of: act)] == nil else { throw .banned }
    case .join:
      try authorizeJoining(by: act, in: state, directory)
    case .leave:
      // Also for who has left: the retry is answered by its key, and anything else is rejected when decided.
      try requireRegisteredActor(of: act, directory)
    case .changeRole(let user, _) where user == act.actor:
      // Who lowered oneself has no right to it any more: the retry is answered by its key.
      _ = try changeableRoom(state, for: act, directory)
    case .edit, .archive, .createInvite, .revokeInvite, .addMember, .removeMember,
      .restore, .changeRole, .ban, .unban, .silence:
      try requireAdministrator(act, in: state, directory)
    case .transfer:
      // A retry by who has given ownership away is answered by its key.
      _ = try changeableRoom(state, for: act, directory)
      _ = try standing(of: act, in: state)
    case .delete:
      try authorizeRoomDeletion(by: act, in: state, directory)
    case .mute:
      try requireMember(act, in: state)
    case .sendMessage(_, _, let fingerprint, let prior, _):
      // A service may repeat what stands there though the author has left since: an import that runs again. Not in a room
      // that is gone: it is 404 for everybody.
      _ = try room(state)
      if act.isByService, let prior, prior.author == act.actor, prior.fingerprint == fingerprint { return }
      try requireVoice(act, in: state)
    case .moveReadMarker(_, let target), .markUnread(_, let target):
      try requireMember(act, in: state)
      guard let target, !target.place.isInThread else { throw .messageNotFound }
    case .scheduleMessage:
      try requireVoice(act, in: state)
    case .changeScheduledMessage:
      try requireMember(act, in: state)
    case .cancelScheduledMessage(let id, let prior):
      try authorizeCancelling(id, prior, by: act, in: state)
    case .sendScheduledMessage:
      guard act.isByService else { throw .serviceOnly }
      _ = try room(state)
    case .unreact(_, _, let target, _), .moveThreadMarker(_, _, let target, _), .setThreadFollowing(_, _, let target):
      try requireMember(act, in: state)
      guard target != nil else { throw .messageNotFound }
    case .react(_, _, let target, _):
      try requireVoice(act, in: state)
      guard target != nil else { throw .messageNotFound }
    case .pin(_, let target), .unpin(_, let target):
      try authorizePin(by: act, in: state, directory)
      guard target != nil else { throw .messageNotFound }
    case .editMessage(_, _, let target):
      try requireVoice(act, in: state)
      guard let target else { throw .messageNotFound }
      guard target.author == act.actor else { throw .forbidden }
    case .deleteMessage(_, let target):
      try authorizeDeletion(of: target, by: act, in: state, directory)
    }
  }

  /// A channel is made by a member of its workspace who is more than a guest, a direct room by one of its own.
  private static func authorizeCreation(
    _ creation: RoomCreation, by act: Act, _ directory: borrowing some Directory
  ) throws(Rejection) {
    guard let creator = creation.creator else {
      guard act.isByService else { throw .serviceOnly }
      return
    }
    guard creator == act.actor else { throw .forbidden }
    try requireRegisteredActor(of: act, directory)
    if creation.kind == .direct {
      guard creation.participants.contains(creator) else { throw .forbidden }
    }
    if let workspace = creation.workspace {
      guard let role = directory.role(of: creator, in: workspace) else { throw .workspaceNotFound }
      guard role >= .member else { throw .forbidden }
    }
  }

  /// By a service's word into any room that takes members in; by oneself into a public channel that one can find. A ban takes
  /// the right away, so that no retry tells who is banned that they are in.
  private static func authorizeJoining(
    by act: Act, in state: RoomState, _ directory: borrowing some Directory
  ) throws(Rejection) {
    try requireRegisteredActor(of: act, directory)
    let user = try actor(of: act)
    let room = try room(state)
    let isFound = isFound(room, by: user, directory)
    guard act.isByService || room.members[user] != nil || isFound else { throw .roomNotFound }
    guard room.kind != .direct else { throw .directRoomFixed }
    guard room.banned[user] == nil else { throw .banned }
  }

  /// The owner's right, and that of the workspace's administrators over a public channel. Also for who has deleted it
  /// already: the retry is answered by its key, and anything else is rejected when decided.
  private static func authorizeRoomDeletion(
    by act: Act, in state: RoomState, _ directory: borrowing some Directory
  ) throws(Rejection) {
    if case .deleted = state { return }
    let room = try changeableRoom(state, for: act, directory)
    guard let user = act.actor else { return }
    let oversees = oversees(room, user, directory)
    guard oversees || room.members[user]?.role == .owner else { throw .forbidden }
  }

  /// Its author's right, in the room or out of it: who has left or was put out would else speak again when let in again.
  private static func authorizeCancelling(
    _ id: MessageID, _ prior: SchedulingFacts?, by act: Act, in state: RoomState
  ) throws(Rejection) {
    let author = try room(state).scheduled[id]?.author ?? prior?.author
    guard let author, author == act.actor else { return try requireMember(act, in: state) }
  }

  private static func authorizeDeletion(
    of target: MessageFacts?, by act: Act, in state: RoomState, _ directory: borrowing some Directory
  ) throws(Rejection) {
    let standing = try standing(of: act, in: state)
    guard let target else { throw .messageNotFound }
    switch standing {
    case .service: return
    case .member(let user, _):
      guard target.author != user else { return }
      guard try authority(of: act, in: state, directory).highestRole >= .administrator else { throw .forbidden }
    }
  }

  /// In a channel administrators choose what is pinned, elsewhere every member may.
  private static func authorizePin(
    by act: Act, in state: RoomState, _ directory: borrowing some Directory
  ) throws(Rejection) {
    if try room(state).kind == .channel { try requireAdministrator(act, in: state, directory) }
    try requireVoice(act, in: state)
  }

  private static func requireRegisteredActor(of act: Act, _ directory: borrowing some Directory) throws(Rejection) {
    guard directory.isRegistered(try actor(of: act)) else { throw .userNotFound }
  }

  static func requireMember(_ act: Act, in state: RoomState) throws(Rejection) {
    switch try standing(of: act, in: state) {
    case .member: return
    case .service: throw .forbidden
    }
  }

  /// A member who is not silenced: for whatever shows to the others.
  static func requireVoice(_ act: Act, in state: RoomState) throws(Rejection) {
    switch try standing(of: act, in: state) {
    case .member(_, let member):
      if let until = member.silencedUntil, until > act.time { throw .memberSilenced }
    case .service: throw .forbidden
    }
  }

  static func requireAdministrator(
    _ act: Act, in state: RoomState, _ directory: borrowing some Directory
  ) throws(Rejection) {
    _ = try changeableRoom(state, for: act, directory)
    guard try authority(of: act, in: state, directory).highestRole >= .administrator else { throw .forbidden }
  }

  /// The room, for an act that reaches it, unless it is one whose members and looks are fixed.
  private static func changeableRoom(
    _ state: RoomState, for act: Act, _ directory: borrowing some Directory
  ) throws(Rejection) -> Room {
    _ = try authority(of: act, in: state, directory)
    let room = try room(state)
    guard room.kind != .direct else { throw .directRoomFixed }
    return room
  }

  static func standing(of act: Act, in state: RoomState) throws(Rejection) -> Standing {
    let room = try room(state)
    guard let actor = act.actor else { return .service }
    guard let member = room.members[actor] else { throw .roomNotFound }
    return .member(actor, member)
  }

  // MARK: Authority

  static func authority(
    of act: Act, in state: RoomState, _ directory: borrowing some Directory
  ) throws(Rejection) -> Authority {
    let room = try room(state)
    guard let user = act.actor else { return .service }
    guard let role = role(of: user, in: room, directory) else { throw .roomNotFound }
    return .role(role)
  }

  /// What the user is in the room, by membership or by the workspace's role.
  static func role(of user: UserID, in room: Room, _ directory: borrowing some Directory) -> Role? {
    let role = room.members[user]?.role
    return oversees(room, user, directory) ? max(role ?? .administrator, .administrator) : role
  }

  static func requireAuthority(
    over role: Role, _ act: Act, in state: RoomState, _ directory: borrowing some Directory
  ) throws(Rejection) {
    switch try authority(of: act, in: state, directory) {
    case .role(let own): guard role < own else { throw .forbidden }
    case .service: return
    }
  }

  /// A workspace's administrators count as administrators of its public channels, in or out of them.
  private static func oversees(_ room: Room, _ user: UserID, _ directory: borrowing some Directory) -> Bool {
    guard room.isPublic, let role = role(of: user, around: room, directory) else { return false }
    return role >= .administrator
  }

  /// A public channel shows to the workspace's members, guests excepted.
  private static func isFound(_ room: Room, by user: UserID, _ directory: borrowing some Directory) -> Bool {
    guard room.isPublic, let role = role(of: user, around: room, directory) else { return false }
    return role >= .member
  }

  private static func role(
    of user: UserID, around room: Room, _ directory: borrowing some Directory
  ) -> WorkspaceRole? {
    guard let workspace = room.workspace else { return nil }
    return directory.role(of: user, in: workspace)
  }
}
