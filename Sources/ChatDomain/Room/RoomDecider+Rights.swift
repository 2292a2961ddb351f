import ChatPrimitives

/// As whom an act reaches a room.
enum Standing {
  case member(UserID, Member)
  /// A service that acts for itself and in nobody's name.
  case service
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
      guard state.room?.invites[id] != nil else { throw .inviteNotFound }
    case .join:
      guard act.isByService else { throw .serviceOnly }
      try requireRegisteredActor(of: act, directory)
      _ = try room(state)
    case .leave:
      // Also for who has left: the retry is answered by its key, and anything else is rejected when decided.
      try requireRegisteredActor(of: act, directory)
    case .edit, .archive, .createInvite, .revokeInvite, .addMember, .removeMember:
      try requireAdministrator(act, in: state)
    case .mute:
      try requireMember(act, in: state)
    case .sendMessage(_, _, let fingerprint, let prior):
      // A service may repeat what stands there though the author has left since: an import that runs again.
      if act.isByService, let prior, prior.author == act.actor, prior.fingerprint == fingerprint { return }
      try requireMember(act, in: state)
    case .moveReadMarker(_, let target):
      try requireMember(act, in: state)
      guard target != nil else { throw .messageNotFound }
    case .editMessage(_, _, let target):
      try requireMember(act, in: state)
      guard let target else { throw .messageNotFound }
      guard target.author == act.actor else { throw .forbidden }
    case .deleteMessage(_, let target):
      try authorizeDeletion(of: target, by: act, in: state)
    }
  }

  private static func authorizeCreation(
    _ creation: RoomCreation, by act: Act, _ directory: borrowing some Directory
  ) throws(Rejection) {
    guard let creator = creation.creator else {
      guard act.isByService else { throw .serviceOnly }
      return
    }
    guard creator == act.actor else { throw .forbidden }
    try requireRegisteredActor(of: act, directory)
  }

  private static func authorizeDeletion(of target: MessageFacts?, by act: Act, in state: RoomState) throws(Rejection) {
    let standing = try standing(of: act, in: state)
    guard let target else { throw .messageNotFound }
    switch standing {
    case .service: return
    case .member(let user, let member):
      guard target.author == user || member.role >= .administrator else { throw .forbidden }
    }
  }

  private static func requireRegisteredActor(of act: Act, _ directory: borrowing some Directory) throws(Rejection) {
    guard directory.isRegistered(try actor(of: act)) else { throw .userNotFound }
  }

  private static func requireMember(_ act: Act, in state: RoomState) throws(Rejection) {
    switch try standing(of: act, in: state) {
    case .member: return
    case .service: throw .forbidden
    }
  }

  private static func requireAdministrator(_ act: Act, in state: RoomState) throws(Rejection) {
    switch try standing(of: act, in: state) {
    case .member(_, let member): guard member.role >= .administrator else { throw .forbidden }
    case .service: return
    }
  }

  static func standing(of act: Act, in state: RoomState) throws(Rejection) -> Standing {
    let room = try room(state)
    guard let actor = act.actor else { return .service }
    guard let member = room.members[actor] else { throw .roomNotFound }
    return .member(actor, member)
  }
}
