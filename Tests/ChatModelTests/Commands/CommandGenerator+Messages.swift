import ChatDomain
import ChatPrimitives
import ChatService
import EventLogSimulation

extension CommandGenerator {
  mutating func send(_ model: ChatModel) -> Step? {
    guard let room = anyRoom(model) else { return nil }
    let user = actor(in: room)
    return send(content(room, by: user), as: messageID(room), to: room.id, by: user, at: nil)
  }

  /// A service imports a message from elsewhere, with its original time.
  mutating func importMessage(_ model: ChatModel) -> Step? {
    guard let room = anyRoom(model) else { return nil }
    let user = actor(in: room)
    let time = clock.now().adding(milliseconds: -Int64(random.within(1...400)) * 3_600_000)
    return send(content(room, by: user), as: messageID(room), to: room.id, by: user, at: time)
  }

  func send(
    _ content: NewMessage, as id: MessageID, to room: RoomID, by user: UserID, at time: Timestamp? = nil
  ) -> Step {
    let principal = Principal(user: user, service: time == nil ? nil : Numbered.service)
    let name =
      "u\(user.short) sends m\(id.short) to r\(room.short)\(content.thread.map { " in thread m\($0.short)" } ?? ""), \(content.summary)"
    let rights: [Right] = time == nil ? [.account, .voice(room)] : [.room(room)]
    return Step(time.map { "\(name) (as of \($0))" } ?? name, user: user, room: room, rights: rights) {
      chat async throws(ServiceError) in
      let request = try chat.send(content, as: id, to: room, by: principal, originalTime: time)
      return Step.Receipt(try await chat.perform(try await chat.withMedia(request)))
    }
  }

  /// A new ID, or rarely one that the room has already.
  mutating func messageID(_ room: ModelRoom) -> MessageID {
    if chance(3), let message = pick(room.messages) { return message.id }
    return newID()
  }

  /// Mostly a plain text. Otherwise a reply, a message in a thread, one with mentions, or a custom event.
  mutating func content(_ room: ModelRoom, by user: UserID) -> NewMessage {
    if chance(55) { return .plain(chance(2) ? "" : text()) }
    var message = NewMessage.plain(text())
    if chance(60) {
      // Uses few threads, so that some of them grow.
      let roots = room.timeline.filter { chance(15) || !room.thread(of: $0.id).isEmpty }
      message.thread = pick(roots)?.id
      if chance(3) { message.thread = pick(room.messages)?.id }
    }
    if chance(25) {
      let place = message.thread.map { room.thread(of: $0) } ?? room.timeline
      message.replyTo = pick(place)?.id ?? message.thread
    }
    if chance(40) { message.mentions = mentions(in: room) }
    if chance(20), let media = media(seenBy: user) {
      message.attachments = [NewMessage.AttachedMedia(media: media, name: chance(50) ? "photo.jpg" : nil)]
    }
    if chance(15) {
      message.custom = CustomPart(type: "order.shipped", body: "{\"number\":\(random.below(100))}")
      if chance(50) { message.text = "" }
    }
    return message
  }

  private mutating func mentions(in room: ModelRoom) -> Mentions {
    var users: [UserID] = []
    for _ in 0..<random.within(0...2) {
      if chance(95), let member = pick(room.members) {
        users.append(member.user)
      } else if chance(50) {
        users.append(anyone())
      }
    }
    return Mentions(users: users, everyone: chance(30)).normalized
  }

  /// A message of the room, mostly one that is not deleted, and mostly a late one.
  mutating func message(of room: ModelRoom, where fits: (ModelMessage) -> Bool = { _ in true }) -> ModelMessage? {
    let messages = chance(95) ? room.messages.filter { !$0.isDeleted && fits($0) } : room.messages
    return pick(chance(60) ? messages.suffix(8) : messages)
  }

  mutating func editMessage(_ model: ChatModel) -> Step? {
    guard let room = anyRoom(model), let message = message(of: room) else { return nil }
    let user = chance(92) ? message.author : actor(in: room)
    let edit = edit(of: room)
    return self.room(
      "edits m\(message.id.short) to \(NewMessage(text: edit.text ?? "", mentions: edit.mentions).summary)", room.id,
      .messages(.edit(message.id, edit)), by: user)
  }

  mutating func edit(of room: ModelRoom) -> MessageEdit {
    MessageEdit(text: text(), mentions: chance(40) ? mentions(in: room) : Mentions())
  }

  mutating func deleteMessage(_ model: ChatModel) -> Step? {
    guard let room = anyRoom(model), let message = message(of: room) else { return nil }
    let user = chance(70) ? message.author : leader(of: room)
    return self.room("deletes m\(message.id.short)", room.id, .messages(.delete(message.id)), by: user)
  }
}

extension NewMessage {
  /// A description for reports of failures.
  var summary: String {
    let reply = replyTo.map { "in reply to m\($0.short), " } ?? ""
    let mentioned = mentions.users.map { "u\($0.short), " }.joined() + (mentions.everyone ? "everyone, " : "")
    return reply + (mentioned.isEmpty ? "" : "mentioning \(mentioned)") + (custom.map { "\($0.type), " } ?? "") + text
  }
}
