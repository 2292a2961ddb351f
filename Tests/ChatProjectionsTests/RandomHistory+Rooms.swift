import ChatDomain
import ChatPrimitives

// Rooms, their members and invites, and workspaces.
extension RandomHistory {
  mutating func stepMembership(_ user: UserID, in room: RoomID, _ state: Room) {
    if let member = state.members[user] {
      guard member.role != .owner else { return }
      record(chance(2) ? .memberLeft(user) : .memberRemoved(user), in: room, by: user)
    } else if state.banned[user] != nil {
      record(.memberUnbanned(user), in: room, by: state.members.users.sorted().first)
    } else {
      let invite = state.invites.keys.sorted().randomElement(using: &random)
      record(
        chance(2) ? .memberJoined(user, role: .member, invite: invite) : .memberAdded(user, role: .administrator),
        in: room, by: user)
    }
  }

  mutating func stepInvite(_ user: UserID, in room: RoomID, _ state: Room) {
    if chance(3), let invite = state.invites.keys.sorted().randomElement(using: &random) {
      record(.inviteRevoked(invite), in: room, by: user)
    } else {
      let id: InviteID = newID()
      let invite = Invite(
        id: id, tokenHash: id.uuid.bytes + id.uuid.bytes, role: .member,
        expiresAt: script.last.time.adding(milliseconds: 100_000), maximumUses: chance(2) ? 3 : nil)
      record(.inviteCreated(invite), in: room, by: chance(3) ? nil : user)
    }
  }

  mutating func stepRoom(_ user: UserID, in room: RoomID) {
    if chance(40), room == roomIDs.last {
      record(.archived, in: room, by: user)
    } else if chance(20), room == roomIDs[1] {
      record(chance(2) ? .archived : .restored, in: room, by: user)
    } else if chance(3) {
      record(.erased(kind: 101), in: room, by: user)
    } else {
      let picture: PictureEdit? = chance(3) ? .set(newID()) : chance(3) ? .remove : nil
      let topic = chance(3) ? "topic \(random.next() % 10)" : chance(3) ? "" : nil
      record(
        .edited(RoomEdit(name: "name \(random.next() % 100)", topic: topic, picture: picture)), in: room, by: user)
    }
  }

  mutating func stepModeration(_ user: UserID, in room: RoomID, _ state: Room) {
    let actor = state.members.users.sorted().first
    guard let member = state.members[user] else {
      if chance(3) { record(.memberBanned(user), in: room, by: actor) }
      return
    }
    switch random.next() % 3 {
    case 0: record(.roleChanged(user, chance(2) ? .administrator : .member), in: room, by: actor)
    case 1:
      let shift = Int64(random.next() % 400_000) - 100_000
      record(
        .memberSilenced(user, until: chance(4) ? nil : script.last.time.adding(milliseconds: shift)), in: room,
        by: actor)
    default:
      if member.role != .owner { record(.memberBanned(user), in: room, by: actor) }
    }
  }

  // MARK: - Workspaces

  mutating func prepareWorkspaces() {
    let (owner, other) = (userIDs[0], userIDs[1])
    record(.created(WorkspaceCreation(name: "office", creator: owner)), of: workspaceID, by: owner)
    record(.memberJoined(owner, role: .owner, by: .service), of: workspaceID, by: owner)
    let link: InviteID = newID()
    doomedWorkspaceEvents = [
      .created(WorkspaceCreation(name: "doomed words", creator: owner)),
      .memberJoined(owner, role: .owner, by: .service), .edited(WorkspaceEdit(topic: "doomed words")),
      .memberInvited(other, role: .guest), .inviteCreated(invite(link, .member)),
      .memberJoined(userIDs[2], role: .member, by: .link(link)), .deleted,
    ]
    let message: MessageID = newID()
    doomedRoomEvents = [
      .created(RoomCreation(kind: .channel, name: "doomed words", creator: owner, workspace: doomedWorkspace)),
      .memberJoined(owner, role: .owner, invite: nil), .memberAdded(other, role: .member),
      .edited(RoomEdit(topic: "doomed words")),
      .messageSent(message, author: owner, thread: nil, .plain("doomed words")),
      .messageSent(newID(), author: owner, thread: nil, .plain("doomed words")),
      .messageEdited(message, at: .room(1), .plain("other doomed words")), .messageDeleted(message, at: .room(1)),
      .memberSilenced(other, until: script.last.time.adding(milliseconds: 100_000_000)), .memberBanned(other), .deleted,
    ]
  }

  mutating func stepDoomed() {
    if let event = doomedRoomEvents.popFirst() {
      record(event, in: doomedRoom, by: userIDs[0])
    } else if let event = doomedWorkspaceEvents.popFirst() {
      record(event, of: doomedWorkspace, by: userIDs[0])
    }
  }

  mutating func stepWorkspace(_ user: UserID) {
    guard let state = workspaces[workspaceID]?.workspace else { return }
    let link = state.invites.keys.sorted().randomElement(using: &random)
    switch random.next() % 6 {
    case 0: record(.edited(WorkspaceEdit(name: "office \(random.next() % 9)")), of: workspaceID, by: user)
    case 1: record(.inviteCreated(invite(newID(), .guest)), of: workspaceID, by: user)
    case 2: if let link { record(.inviteRevoked(link), of: workspaceID, by: user) }
    case 3: record(.memberInvited(user, role: .member), of: workspaceID, by: userIDs[0])
    case 4:
      guard state.members[user] == nil else {
        return record(.roleChanged(user, chance(2) ? .guest : .administrator), of: workspaceID, by: userIDs[0])
      }
      let way: WorkspaceAdmission = chance(2) ? .invitation : link.map { .link($0) } ?? .service
      record(.memberJoined(user, role: .member, by: way), of: workspaceID, by: user)
    default:
      if state.members[user] != nil {
        record(chance(2) ? .memberLeft(user) : .memberRemoved(user), of: workspaceID, by: user)
      } else if state.invited[user] != nil {
        record(.invitationWithdrawn(user), of: workspaceID, by: user)
      }
    }
  }

  private func invite(_ id: InviteID, _ role: WorkspaceRole) -> WorkspaceInvite {
    WorkspaceInvite(
      id: id, tokenHash: id.uuid.bytes + id.uuid.bytes, role: role,
      expiresAt: script.last.time.adding(milliseconds: 100_000), maximumUses: 3)
  }
}
