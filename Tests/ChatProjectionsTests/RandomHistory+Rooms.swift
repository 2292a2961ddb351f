import ChatDomain
import ChatPrimitives
import EventLogSimulation

// Rooms, their members and invites, and workspaces.
extension RandomHistory {
  mutating func stepMembership(_ user: UserID, in room: RoomID, _ state: Room) {
    if let member = state.members[user] {
      guard member.role != .owner else { return }
      record(chance(2) ? .members(.left(user)) : .members(.removed(user)), in: room, by: user)
    } else if state.banned[user] != nil {
      record(.members(.unbanned(user)), in: room, by: state.members.users.sorted().first)
    } else {
      let invite = state.invites.keys.sorted().randomElement(using: &random)
      record(
        chance(2)
          ? .members(.joined(user, role: .member, invite: invite)) : .members(.added(user, role: .administrator)),
        in: room, by: user)
    }
  }

  mutating func stepInvite(_ user: UserID, in room: RoomID, _ state: Room) {
    if chance(3), let invite = state.invites.keys.sorted().randomElement(using: &random) {
      record(.sharing(.inviteRevoked(invite)), in: room, by: user)
    } else {
      let id: InviteID = newID()
      let invite = Invite(
        id: id, tokenHash: id.uuid.bytes + id.uuid.bytes, role: .member,
        expiresAt: chance(3) ? nil : script.last.time.adding(milliseconds: 100_000), maximumUses: chance(2) ? 3 : nil,
        codeHash: chance(2) ? [1] + id.uuid.bytes : nil)
      record(.sharing(.inviteCreated(invite)), in: room, by: chance(3) ? nil : user)
    }
  }

  mutating func stepRoom(_ user: UserID, in room: RoomID) {
    if chance(40), room == roomIDs.last {
      record(.lifecycle(.archived), in: room, by: user)
    } else if chance(20), room == roomIDs[1] {
      record(chance(2) ? .lifecycle(.archived) : .lifecycle(.restored), in: room, by: user)
    } else if chance(3) {
      record(.erased(kind: 101), in: room, by: user)
    } else {
      let picture: PictureEdit? = chance(3) ? .set(newID()) : chance(3) ? .remove : nil
      let topic = chance(3) ? "topic \(random.next() % 10)" : chance(3) ? "" : nil
      let custom = chance(4) ? "\(random.next() % 10)" : chance(4) ? "" : nil
      record(
        .lifecycle(
          .edited(RoomEdit(name: "name \(random.next() % 100)", topic: topic, picture: picture, custom: custom))),
        in: room, by: user)
    }
  }

  mutating func stepModeration(_ user: UserID, in room: RoomID, _ state: Room) {
    let actor = state.members.users.sorted().first
    guard let member = state.members[user] else {
      if chance(3) { record(.members(.banned(user)), in: room, by: actor) }
      return
    }
    switch random.next() % 3 {
    case 0: record(.members(.roleChanged(user, chance(2) ? .administrator : .member)), in: room, by: actor)
    case 1:
      let shift = Int64(random.next() % 400_000) - 100_000
      record(
        .members(.silenced(user, until: chance(4) ? nil : script.last.time.adding(milliseconds: shift))), in: room,
        by: actor)
    default:
      if member.role != .owner { record(.members(.banned(user)), in: room, by: actor) }
    }
  }

  // MARK: - Reports

  /// Some reports and some resolutions are erased.
  mutating func stepReport(_ user: UserID, in room: RoomID, _ state: Room) {
    let actor = chance(3) ? nil : state.members.users.sorted().first
    if chance(2), let id = state.openReports.keys.sorted().randomElement(using: &random) {
      resolvedReports[room, default: [:]][id] = state.openReports[id]
      let resolution = ReportResolution(outcome: .userWarned, note: "note \(random.next() % 10)")
      return record(.reports(.resolved(id, chance(6) ? nil : resolution)), in: room, by: actor)
    }
    if chance(3), let id = resolvedReports[room]?.keys.sorted().randomElement(using: &random),
      let reporter = resolvedReports[room]?[id]
    {
      resolvedReports[room]?[id] = nil
      return record(.reports(.reopened(id, reporter: reporter)), in: room, by: actor)
    }
    guard let message = messages[room]?.randomElement(using: &random) else { return }
    let reported = report(of: message.id, by: message.author)
    record(.reports(.filed(newID(), reporter: user, chance(8) ? nil : reported)), in: room, by: user)
  }

  private mutating func report(of message: MessageID, by author: UserID) -> Report {
    if chance(3) { return Report(subject: .user(author), reason: .hate, comment: "") }
    let photo = Media(hash: [UInt8](repeating: 9, count: 32), contentType: "image/png", size: 3)
    let details = MessageDetails(attachments: [Attachment(media: newID(), content: photo, name: nil)])
    let content = MessageContent(text: "kept \(random.next() % 100)", details: chance(3) ? nil : details)
    let reported = ReportedMessage(id: message, author: author, sentAt: script.last.time, content: content)
    return Report(subject: .message(reported), reason: .spam, comment: "comment \(random.next() % 100)")
  }

  // MARK: - Workspaces

  mutating func prepareWorkspaces() {
    let (owner, other) = (userIDs[0], userIDs[1])
    record(.lifecycle(.created(WorkspaceCreation(name: "office", creator: owner))), of: workspaceID, by: owner)
    record(.members(.joined(owner, role: .owner, by: .service)), of: workspaceID, by: owner)
    let link: InviteID = newID()
    doomedWorkspaceEvents = [
      .lifecycle(.created(WorkspaceCreation(name: "doomed words", creator: owner, topic: "doomed words"))),
      .members(.joined(owner, role: .owner, by: .service)), .lifecycle(.edited(WorkspaceEdit(topic: "doomed words"))),
      .invitations(.invited(other, role: .guest)), .sharing(.inviteCreated(invite(link, .member))),
      .members(.joined(userIDs[2], role: .member, by: .link(link))), .lifecycle(.deleted),
    ]
    let message: MessageID = newID()
    doomedRoomEvents = [
      .lifecycle(
        .created(RoomCreation(kind: .channel, name: "doomed words", creator: owner, workspace: doomedWorkspace))),
      .members(.joined(owner, role: .owner, invite: nil)), .members(.added(other, role: .member)),
      .lifecycle(.edited(RoomEdit(topic: "doomed words"))),
      .messages(.sent(message, author: owner, thread: nil, .plain("doomed words"))),
      .messages(.sent(newID(), author: owner, thread: nil, .plain("doomed words"))),
      .messages(.edited(message, at: .room(1), .plain("other doomed words"))),
      .messages(.deleted(message, at: .room(1))),
      .reports(.filed(newID(), reporter: owner, report(of: message, by: other))),
      .members(.silenced(other, until: script.last.time.adding(milliseconds: 100_000_000))), .members(.banned(other)),
      .lifecycle(.deleted),
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
    case 0: record(.lifecycle(.edited(WorkspaceEdit(name: "office \(random.next() % 9)"))), of: workspaceID, by: user)
    case 1: record(.sharing(.inviteCreated(invite(newID(), .guest))), of: workspaceID, by: user)
    case 2: if let link { record(.sharing(.inviteRevoked(link)), of: workspaceID, by: user) }
    case 3: record(.invitations(.invited(user, role: .member)), of: workspaceID, by: userIDs[0])
    case 4:
      guard state.members[user] == nil else {
        return record(
          .members(.roleChanged(user, chance(2) ? .guest : .administrator)), of: workspaceID, by: userIDs[0])
      }
      let way: WorkspaceJoinMethod = chance(2) ? .invitation : link.map { .link($0) } ?? .service
      record(.members(.joined(user, role: .member, by: way)), of: workspaceID, by: user)
    default:
      if state.members[user] != nil {
        record(chance(2) ? .members(.left(user)) : .members(.removed(user)), of: workspaceID, by: user)
      } else if state.invited[user] != nil {
        record(.invitations(.withdrawn(user)), of: workspaceID, by: user)
      }
    }
  }

  private func invite(_ id: InviteID, _ role: WorkspaceRole) -> WorkspaceInvite {
    WorkspaceInvite(
      id: id, tokenHash: id.uuid.bytes + id.uuid.bytes, role: role,
      expiresAt: script.last.time.adding(milliseconds: 100_000), maximumUses: 3, codeHash: [2] + id.uuid.bytes)
  }
}
