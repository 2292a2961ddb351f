import ChatDomain
import ChatPrimitives
import ChatService
import EventLogSimulation

extension CommandGenerator {
  mutating func archive(_ model: ChatModel) -> Step? {
    guard let room = anyRoom(model), chance(room.archived == nil ? 40 : 100) else { return nil }
    // An archived room is mostly opened again, so that not all rooms end archived.
    return room.archived == nil || chance(10)
      ? self.room("archives", room.id, .lifecycle(.archive), by: leader(of: room))
      : self.room("opens again", room.id, .lifecycle(.restore), by: leader(of: room))
  }

  mutating func deleteRoom(_ model: ChatModel) -> Step? {
    guard let room = anyRoom(model), chance(25) else { return nil }
    let user = pick(room.members.filter { $0.role == .owner })?.user ?? leader(of: room)
    return self.room("deletes the room", room.id, .lifecycle(.delete), by: user)
  }

  mutating func changeRole(_ model: ChatModel) -> Step? {
    guard let room = anyRoom(model), let member = pick(room.members), let role = pick(Role.allCases) else { return nil }
    return self.room(
      "makes u\(member.user.short) \(role.name)", room.id, .members(.changeRole(member.user, role)),
      by: leader(of: room))
  }

  mutating func transfer(_ model: ChatModel) -> Step? {
    guard let room = anyRoom(model), let member = pick(room.members) else { return nil }
    let user = pick(room.members.filter { $0.role == .owner })?.user ?? anyone()
    return self.room("gives the room to u\(member.user.short)", room.id, .members(.transfer(to: member.user)), by: user)
  }

  /// Often bans a user who joined by themselves and may repeat that command.
  mutating func ban(_ model: ChatModel) -> Step? {
    guard let room = anyRoom(model) else { return nil }
    let joins = room.joinHistory.filter { if case .joined(let role, _) = $0.what { role != .owner } else { false } }
    let candidate = chance(50) ? pick(joins)?.user : nil
    let user = candidate ?? (chance(80) ? pick(room.members)?.user : nil) ?? anyone()
    return self.room("bans u\(user.short)", room.id, .members(.ban(user)), by: leader(of: room))
  }

  mutating func unban(_ model: ChatModel) -> Step? {
    guard let room = anyRoom(model) else { return nil }
    let user = pick(room.banned)?.user ?? anyone()
    return self.room("lifts the ban of u\(user.short)", room.id, .members(.unban(user)), by: leader(of: room))
  }

  mutating func silence(_ model: ChatModel) -> Step? {
    guard let room = anyRoom(model), let member = pick(room.members) else { return nil }
    let until = member.silencedUntil != nil && chance(70) ? nil : farTime()
    return self.room(
      "silences u\(member.user.short) until \(until?.rfc3339 ?? "no time")", room.id,
      .members(.silence(member.user, until: until)), by: leader(of: room))
  }

  /// Uses few users, so that the same room is requested again.
  mutating func openDirectRoom(_ model: ChatModel) -> Step? {
    let user = anyone()
    let others = (0...random.below(chance(70) ? 1 : 3)).map { _ in users[random.below(6)] }
    let names = others.map { "u\($0.short)" }.joined(separator: ", ")
    return Step("u\(user.short) talks directly to \(names)", user: user) { chat async throws(ServiceError) in
      Step.Receipt(try await chat.directRoom(with: others, by: Principal(user: user)).outcome)
    }
  }
}
