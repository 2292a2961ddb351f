import ChatDomain
import ChatPrimitives
import ChatProjections
import ChatService
import EventLogSimulation

extension CommandGenerator {
  mutating func moveMarker(_ model: ChatModel) -> Step? {
    guard let room = anyRoom(model), let message = message(of: room) else { return nil }
    let user = actor(in: room)
    return self.room("has read m\(message.id.short)", room.id, .reading(.moveMarker(to: message.id)), by: user)
  }

  mutating func markUnread(_ model: ChatModel) -> Step? {
    guard let room = anyRoom(model), let message = message(of: room) else { return nil }
    return self.room(
      "marks m\(message.id.short) as unread", room.id, .reading(.markUnread(from: message.id)), by: actor(in: room))
  }

  mutating func setPreferences(_ model: ChatModel) -> Step? {
    var edit = PreferencesEdit(sharesReadMarkers: chance(70) ? chance(50) : nil)
    if edit.isEmpty || chance(30) { edit.acceptsDirectMessages = chance(75) }
    if chance(30) { edit.sharesPresence = chance(50) }
    addNotificationSettings(to: &edit)
    return setPreferences(edit, of: anyone())
  }

  /// Derived from the other preferences and the time, so that they do not change what each seed draws.
  private func addNotificationSettings(to edit: inout PreferencesEdit) {
    let minute = UInt16(truncatingIfNeeded: clock.now().milliseconds / 1000) % 1440
    let levels: [NotificationLevel?] = [nil, .all, .mentions, NotificationLevel.none]
    edit.notifications = levels[Int(minute) % levels.count]
    if edit.acceptsDirectMessages == false { edit.mutedKinds = AlertKinds(bits: UInt8(minute % 128)) }
    if edit.sharesReadMarkers == false { edit.showsPreviews = minute.isMultiple(of: 2) }
    guard edit.sharesPresence != nil else { return }
    edit.quietHours = .remove
    if let from = TimeOfDay(minutes: minute), let to = TimeOfDay(minutes: (minute + 480) % 1440), minute > 99 {
      edit.quietHours = .set(QuietHours(from: from, to: to, timeZone: "Asia/Seoul"))
    }
  }

  mutating func setPreferences(_ edit: PreferencesEdit, of user: UserID) -> Step {
    let key = key()
    let (receipts, direct, presence) = (
      edit.sharesReadMarkers.map { "\($0)" } ?? "-", edit.acceptsDirectMessages.map { "\($0)" } ?? "-",
      edit.sharesPresence.map { "\($0)" } ?? "-"
    )
    let name =
      "u\(user.short) sets receipts \(receipts), direct messages \(direct), presence \(presence) under k\(key.short)"
    return Step(name, user: user) { chat async throws(ServiceError) in
      Step.Receipt(try await chat.setPreferences(edit, by: Principal(user: user), command: key))
    }
  }

  // MARK: - Scheduled messages

  /// Soon, so that the message can be sent in this run, or much later.
  private mutating func sendingTime() -> Timestamp {
    clock.now().adding(milliseconds: chance(70) ? Self.soonMilliseconds : 86_400_000)
  }

  static let soonMilliseconds: Int64 = 60_000

  mutating func schedule(_ model: ChatModel) -> Step? {
    guard let room = anyRoom(model) else { return nil }
    let (user, time) = (actor(in: room), sendingTime())
    let id = chance(5) ? pick(room.scheduled)?.id ?? newID() : messageID(room)
    return schedule(content(room, by: user), as: id, to: room.id, by: user, at: time)
  }

  func schedule(
    _ message: NewMessage, as id: MessageID, to room: RoomID, by user: UserID, at time: Timestamp
  ) -> Step {
    let name =
      "u\(user.short) schedules m\(id.short) in r\(room.short)"
      + "\(message.thread.map { " in thread m\($0.short)" } ?? "") at \(time): \(message.summary)"
    return Step(name, user: user, room: room, rights: [.account, .voice(room)]) { chat async throws(ServiceError) in
      let request = try chat.schedule(message, as: id, to: room, at: time, by: Principal(user: user))
      return Step.Receipt(try await chat.perform(try await chat.withMedia(request)))
    }
  }

  mutating func changeScheduled(_ model: ChatModel) -> Step? {
    guard let room = anyRoom(model), let waiting = pick(room.scheduled) else { return nil }
    let new = edit(of: room)
    let edit = ScheduledMessageEdit(
      text: chance(70) ? new.text : nil, mentions: chance(30) ? new.mentions : nil,
      sendAt: chance(40) ? sendingTime() : nil,
      customBody: chance(20) && waiting.message.content.details?.custom != nil ? "{\"n\":1}" : nil)
    let user = chance(92) ? waiting.message.author : actor(in: room)
    return self.room(
      "changes scheduled m\(waiting.id.short)", room.id, .scheduling(.change(waiting.id, edit)), by: user
    )
  }

  mutating func cancelScheduled(_ model: ChatModel) -> Step? {
    guard let room = anyRoom(model), let waiting = pick(room.scheduled) else { return nil }
    let user = chance(92) ? waiting.message.author : actor(in: room)
    return self.room(
      "cancels scheduled m\(waiting.id.short)", room.id, .scheduling(.cancel(waiting.id)), by: user)
  }

  /// Sends a due message as the scheduler does. Rarely, the message is settled already.
  mutating func sendDue(_ model: ChatModel) -> Step? {
    let rooms = model.rooms.values.filter { $0.exists }.sorted { $0.age < $1.age }
    let waiting = rooms.flatMap { room in room.scheduled.map { (room.id, $0) } }
    let soon = waiting.filter { $0.1.failure == nil && ($0.1.isSoon || $0.1.message.sendAt <= clock.now()) }
    // Few messages will fail, so these are preferred.
    let hopeless = soon.filter { room, scheduled in
      guard let room = model.rooms[room], let author = room.member(scheduled.message.author) else { return true }
      return room.archived != nil || author.silencedUntil != nil
    }
    let candidates = !hopeless.isEmpty && chance(50) ? hopeless : soon
    guard let (room, scheduled) = pick(chance(95) ? candidates : waiting) else { return nil }
    return due(scheduled.id, scheduled.message, revision: scheduled.revision, in: room, reachesTime: scheduled.isSoon)
  }

  /// - Parameters:
  ///   - revision: of the message to send; nil for that of the waiting message when the step is performed.
  ///   - reachesTime: whether the clock moves forward until the message is due.
  func due(
    _ id: MessageID, _ message: ScheduledMessage, revision: LogPosition?, in room: RoomID, reachesTime: Bool = true
  ) -> Step {
    @Sendable func command(_ revision: LogPosition) -> RoomCommand {
      .scheduling(.send(id, message, revision: revision))
    }
    let principal = Principal(user: message.author, service: Numbered.service)
    let name = "m\(id.short) of u\(message.author.short) is due in r\(room.short)"
    let rights = Right.of(command(revision ?? .origin), in: room, by: message.author)
    return Step(name, user: message.author, room: room, rights: rights) { [clock] chat async throws(ServiceError) in
      if reachesTime { clock.reach(message.sendAt) }
      var waiting = revision
      if waiting == nil { waiting = try await chat.scheduledMessage(id, of: room, for: message.author).revision }
      return Step.Receipt(
        try await chat.perform(ChatService.Request(principal, .room(room, command(waiting ?? .origin)))))
    }
  }
}

extension ModelScheduled {
  /// Whether the message is due within the run.
  fileprivate var isSoon: Bool { message.sendAt.milliseconds - scheduled.time.milliseconds < 3_600_000 }
}
