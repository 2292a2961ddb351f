import ChatDomain
import ChatPrimitives
import ChatService
import EventLogSimulation

extension CommandGenerator {
  /// Creates a group, or a channel of a workspace. The number is limited, because many rooms would each have little
  /// content.
  mutating func createRoom(_ model: ChatModel) -> Step? {
    guard model.rooms.values.filter({ $0.exists }).count < Self.roomCount + 4 else { return nil }
    let number = model.rooms.count + (chance(5) ? 0 : 1)
    let id = Numbered.room(number)
    var creation = RoomCreation(kind: .group, name: text(), creator: anyone())
    if chance(50), let workspace = anyWorkspace(model) {
      creation.kind = .channel
      creation.workspace = workspace.id
      creation.isPublic = chance(60)
      creation.topic = chance(40) ? text() : nil
      if chance(90), let member = pick(workspace.members) { creation.creator = member.user }
    } else if chance(40) {
      for user in users where user != creation.creator && chance(30) { creation.participants.append(user) }
      creation.participants.sort()
    }
    return create(id, creation)
  }

  func create(_ id: RoomID, _ made: RoomCreation) -> Step {
    let user = made.creator ?? users[0]
    let name = "u\(user.short) creates \(made.isPublic ? "public " : "")\(made.kind.name) r\(id.short)"
    let channel = made.workspace.map { [Right.workspaceRole($0, .member)] } ?? []
    return Step(name, user: user, room: id, rights: [.account, .room(id)] + channel) {
      chat async throws(ServiceError) in
      Step.Receipt(try await chat.performRoom(id, .lifecycle(.create(made)), by: Principal(user: user)))
    }
  }

  mutating func editRoom(_ model: ChatModel) -> Step? {
    guard let room = anyRoom(model) else { return nil }
    let user = leader(of: room)
    let edit = RoomEdit(
      name: chance(60) ? text() : nil, topic: chance(60) ? (chance(30) ? "" : text()) : nil,
      picture: picture(by: user), custom: customData())
    return self.room("edits to \(edit.name ?? "-"), \(edit.topic ?? "-")", room.id, .lifecycle(.edit(edit)), by: user)
  }

  mutating func addMember(_ model: ChatModel) -> Step? {
    guard let room = anyRoom(model) else { return nil }
    let newcomer = outsider(of: room, in: model)
    return self.room("adds u\(newcomer.short)", room.id, .members(.add(newcomer)), by: leader(of: room))
  }

  mutating func removeMember(_ model: ChatModel) -> Step? {
    guard let room = anyRoom(model), let member = pick(room.members), room.members.count > 2 else { return nil }
    return self.room("removes u\(member.user.short)", room.id, .members(.remove(member.user)), by: leader(of: room))
  }

  mutating func leave(_ model: ChatModel) -> Step? {
    // Small rooms are left rarely, so that not all rooms end empty.
    guard let room = anyRoom(model), room.members.count > 2 || chance(10) else { return nil }
    return self.room("leaves", room.id, .members(.leave), by: actor(in: room))
  }

  /// A service adds the user, or the user joins a public channel.
  mutating func join(_ model: ChatModel) -> Step? {
    guard let room = anyRoom(model) else { return nil }
    if room.isPublic, chance(60) {
      return self.room("joins", room.id, .members(.join), by: outsider(of: room, in: model))
    }
    let user = outsider(of: room, in: model)
    let key = key()
    let principal = Principal(user: user, service: Numbered.service)
    let name = "a service lets u\(user.short) into r\(room.id.short) under k\(key.short)"
    return Step(name, user: user, room: room.id, rights: [.room(room.id), .admission(room.id)]) {
      chat async throws(ServiceError) in
      Step.Receipt(try await chat.performRoom(room.id, .members(.join), by: principal, command: key))
    }
  }

  mutating func mute(_ model: ChatModel) -> Step? {
    guard let room = anyRoom(model) else { return nil }
    let until = chance(30) ? nil : farTime()
    // Derived from the time, so that levels do not change what each seed draws.
    if let until, until.milliseconds.isMultiple(of: 3) {
      let levels: [NotificationLevel?] = [nil, .all, .mentions, NotificationLevel.none]
      let level = levels[Int(until.milliseconds / 3 % Int64(levels.count))]
      return self.room(
        "wants \(level?.name ?? "the usual") notifications", room.id, .members(.setNotifications(level)),
        by: actor(in: room))
    }
    return self.room(
      "mutes until \(until?.rfc3339 ?? "no time")", room.id, .members(.mute(until: until)), by: actor(in: room))
  }

  /// Mostly a user who is not in the room and may join it.
  private mutating func outsider(of room: ModelRoom, in model: ChatModel) -> UserID {
    let workspace = room.creation?.workspace.flatMap { model.workspaces[$0] }
    let fitting = users.filter { user in
      room.member(user) == nil && !room.isBanned(user) && (workspace.map { $0.member(user) != nil } ?? true)
    }
    if chance(92), let user = pick(fitting) { return user }
    return anyone()
  }

  // MARK: - Sharing

  mutating func createInvite(_ model: ChatModel) -> Step? {
    guard let room = anyRoom(model) else { return nil }
    let user = leader(of: room)
    let newInvite = ChatService.NewInvite(
      id: chance(5) ? pick(room.invites)?.link.id ?? newID() : newID(), role: chance(80) ? Role.member : .administrator,
      expiry: expiry(), maximumUses: chance(50) ? UInt32(random.within(1...3)) : nil, hasCode: chance(30))
    return createInvite(newInvite, of: room.id, by: user)
  }

  mutating func expiry() -> ChatService.InviteExpiry {
    chance(50) ? .at(clock.now().adding(milliseconds: 86_400_000)) : chance(30) ? .never : .standard
  }

  func createInvite(_ newInvite: ChatService.NewInvite<Role>, of room: RoomID, by user: UserID) -> Step {
    let name = "u\(user.short) makes invite i\(newInvite.id.short) of r\(room.short)"
    return Step(name, user: user, room: room, rights: [.account, .administrator(room)]) {
      chat async throws(ServiceError) in
      Step.Receipt(try await chat.createInvite(newInvite, for: room, by: Principal(user: user)))
    }
  }

  mutating func revokeInvite(_ model: ChatModel) -> Step? {
    guard let room = anyRoom(model), let invite = pick(room.invites) else { return nil }
    return self.room(
      "revokes i\(invite.link.id.short)", room.id, .sharing(.revokeInvite(invite.link.id)), by: leader(of: room))
  }

  mutating func acceptInvite(_ model: ChatModel) -> Step? {
    guard let room = anyRoom(model), let invite = pick(room.invites)?.link else { return nil }
    let byCode = invite.codeHash != nil && chance(50)
    return accept(invite.id, of: room.id, by: outsider(of: room, in: model), byCode: byCode)
  }

  mutating func accept(_ invite: InviteID, of room: RoomID, by user: UserID, byCode: Bool = false) -> Step {
    let key = key()
    let name = "u\(user.short) accepts i\(invite.short) of r\(room.short) under k\(key.short)"
    let rights = [.account] + Right.of(.sharing(.acceptInvite(invite)), in: room, by: user)
    return Step(name, user: user, room: room, rights: rights) { chat async throws(ServiceError) in
      let secret: InviteSecret =
        byCode ? .code(chat.code(of: invite, in: room)) : .token(chat.token(of: invite, in: room))
      return Step.Receipt(try await chat.acceptInvite(secret, by: Principal(user: user), command: key))
    }
  }
}
