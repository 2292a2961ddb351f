import ChatPrimitives

/// In which capacity somebody acts in a room.
enum RoomActor {
  case member(UserID, Member)
  /// A service that acts for itself and in nobody's name.
  case service
}

/// What the actor may do to a room and its members.
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
    _ command: RoomCommand, by context: CommandContext, in state: RoomState, _ directory: borrowing some Directory
  ) throws(Rejection) {
    guard context.isByService || context.actor != nil else { throw .forbidden }
    switch command {
    case .create(let creation):
      try authorizeCreation(creation, by: context, directory)
    case .acceptInvite(let id):
      try requireRegisteredActor(of: context, directory)
      guard let room = state.room, room.invites[id] != nil else { throw .inviteNotFound }
      guard room.banned[try actor(of: context)] == nil else { throw .banned }
    case .join:
      try authorizeJoining(by: context, in: state, directory)
    case .leave:
      // Also for who has left: the retry is answered by its key, and anything else is rejected when decided.
      try requireRegisteredActor(of: context, directory)
    case .changeRole(let user, _) where user == context.actor:
      // Who lowered oneself has no right to it any more: the retry is answered by its key.
      _ = try changeableRoom(state, for: context, directory)
    case .edit, .archive, .createInvite, .revokeInvite, .addMember, .removeMember,
      .restore, .changeRole, .ban, .unban, .silence:
      try requireAdministrator(context, in: state, directory)
    case .transfer:
      // A retry by who has given ownership away is answered by its key.
      _ = try changeableRoom(state, for: context, directory)
      _ = try roomActor(of: context, in: state)
    case .delete:
      try authorizeRoomDeletion(by: context, in: state, directory)
    case .mute:
      try requireMember(context, in: state)
    case .sendMessage(_, _, let fingerprint, let prior, _):
      // A service may repeat what stands there though the author has left since: an import that runs again. Not in a room
      // that is gone: it is 404 for everybody.
      _ = try room(state)
      if context.isByService, let prior, prior.author == context.actor, prior.fingerprint == fingerprint { return }
      try requireVoice(context, in: state)
    case .moveReadMarker(_, let target), .markUnread(_, let target):
      try requireMember(context, in: state)
      guard let target, !target.place.isInThread else { throw .messageNotFound }
    case .scheduleMessage:
      try requireVoice(context, in: state)
    case .changeScheduledMessage:
      try requireMember(context, in: state)
    case .cancelScheduledMessage(let id, let prior):
      try authorizeCancelling(id, prior, by: context, in: state)
    case .sendScheduledMessage:
      guard context.isByService else { throw .serviceOnly }
      _ = try room(state)
    case .unreact(_, _, let target, _), .moveThreadMarker(_, _, let target, _), .setThreadFollowing(_, _, let target):
      try requireMember(context, in: state)
      guard target != nil else { throw .messageNotFound }
    case .react(_, _, let target, _):
      try requireVoice(context, in: state)
      guard target != nil else { throw .messageNotFound }
    case .pin(_, let target), .unpin(_, let target):
      try authorizePin(by: context, in: state, directory)
      guard target != nil else { throw .messageNotFound }
    case .editMessage(_, _, let target):
      try requireVoice(context, in: state)
      guard let target else { throw .messageNotFound }
      guard target.author == context.actor else { throw .forbidden }
    case .deleteMessage(_, let target):
      try authorizeDeletion(of: target, by: context, in: state, directory)
    }
  }

  /// A channel is made by a member of its workspace who is more than a guest, a direct room by one of its own.
  private static func authorizeCreation(
    _ creation: RoomCreation, by context: CommandContext, _ directory: borrowing some Directory
  ) throws(Rejection) {
    guard let creator = creation.creator else {
      guard context.isByService else { throw .serviceOnly }
      return
    }
    guard creator == context.actor else { throw .forbidden }
    try requireRegisteredActor(of: context, directory)
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
    by context: CommandContext, in state: RoomState, _ directory: borrowing some Directory
  ) throws(Rejection) {
    try requireRegisteredActor(of: context, directory)
    let user = try actor(of: context)
    let room = try room(state)
    let isFound = isFound(room, by: user, directory)
    guard context.isByService || room.members[user] != nil || isFound else { throw .roomNotFound }
    guard room.kind != .direct else { throw .directRoomFixed }
    guard room.banned[user] == nil else { throw .banned }
  }

  /// The owner's right, and that of the workspace's administrators over a public channel. Also for who has deleted it
  /// already: the retry is answered by its key, and anything else is rejected when decided.
  private static func authorizeRoomDeletion(
    by context: CommandContext, in state: RoomState, _ directory: borrowing some Directory
  ) throws(Rejection) {
    if case .deleted = state { return }
    let room = try changeableRoom(state, for: context, directory)
    guard let user = context.actor else { return }
    let oversees = oversees(room, user, directory)
    guard oversees || room.members[user]?.role == .owner else { throw .forbidden }
  }

  /// Its author's right, in the room or out of it: who has left or was put out would else speak again when let in again.
  private static func authorizeCancelling(
    _ id: MessageID, _ prior: KnownScheduledMessage?, by context: CommandContext, in state: RoomState
  ) throws(Rejection) {
    let author = try room(state).scheduled[id]?.author ?? prior?.author
    guard let author, author == context.actor else { return try requireMember(context, in: state) }
  }

  private static func authorizeDeletion(
    of target: KnownMessage?, by context: CommandContext, in state: RoomState, _ directory: borrowing some Directory
  ) throws(Rejection) {
    let actor = try roomActor(of: context, in: state)
    guard let target else { throw .messageNotFound }
    switch actor {
    case .service: return
    case .member(let user, _):
      guard target.author != user else { return }
      guard try authority(of: context, in: state, directory).highestRole >= .administrator else { throw .forbidden }
    }
  }

  /// In a channel administrators choose what is pinned, elsewhere every member may.
  private static func authorizePin(
    by context: CommandContext, in state: RoomState, _ directory: borrowing some Directory
  ) throws(Rejection) {
    if try room(state).kind == .channel { try requireAdministrator(context, in: state, directory) }
    try requireVoice(context, in: state)
  }

  private static func requireRegisteredActor(
    of context: CommandContext, _ directory: borrowing some Directory
  ) throws(Rejection) {
    guard directory.isRegistered(try actor(of: context)) else { throw .userNotFound }
  }

  static func requireMember(_ context: CommandContext, in state: RoomState) throws(Rejection) {
    switch try roomActor(of: context, in: state) {
    case .member: return
    case .service: throw .forbidden
    }
  }

  /// A member who is not silenced: for whatever shows to the others.
  static func requireVoice(_ context: CommandContext, in state: RoomState) throws(Rejection) {
    switch try roomActor(of: context, in: state) {
    case .member(_, let member):
      if let until = member.silencedUntil, until > context.time { throw .memberSilenced }
    case .service: throw .forbidden
    }
  }

  static func requireAdministrator(
    _ context: CommandContext, in state: RoomState, _ directory: borrowing some Directory
  ) throws(Rejection) {
    _ = try changeableRoom(state, for: context, directory)
    guard try authority(of: context, in: state, directory).highestRole >= .administrator else { throw .forbidden }
  }

  /// The room, if the actor can reach it, unless it is one whose members and looks are fixed.
  private static func changeableRoom(
    _ state: RoomState, for context: CommandContext, _ directory: borrowing some Directory
  ) throws(Rejection) -> Room {
    _ = try authority(of: context, in: state, directory)
    let room = try room(state)
    guard room.kind != .direct else { throw .directRoomFixed }
    return room
  }

  static func roomActor(of context: CommandContext, in state: RoomState) throws(Rejection) -> RoomActor {
    let room = try room(state)
    guard let actor = context.actor else { return .service }
    guard let member = room.members[actor] else { throw .roomNotFound }
    return .member(actor, member)
  }

  // MARK: Authority

  static func authority(
    of context: CommandContext, in state: RoomState, _ directory: borrowing some Directory
  ) throws(Rejection) -> Authority {
    let room = try room(state)
    guard let user = context.actor else { return .service }
    guard let role = role(of: user, in: room, directory) else { throw .roomNotFound }
    return .role(role)
  }

  /// What the user is in the room, by membership or by the workspace's role.
  static func role(of user: UserID, in room: Room, _ directory: borrowing some Directory) -> Role? {
    let role = room.members[user]?.role
    return oversees(room, user, directory) ? max(role ?? .administrator, .administrator) : role
  }

  static func requireAuthority(
    over role: Role, _ context: CommandContext, in state: RoomState, _ directory: borrowing some Directory
  ) throws(Rejection) {
    switch try authority(of: context, in: state, directory) {
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
