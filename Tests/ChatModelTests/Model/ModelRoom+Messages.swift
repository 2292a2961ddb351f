import ChatDomain
import ChatPrimitives

extension ModelRoom {
  mutating func send(
    _ id: MessageID, _ author: UserID, _ location: ThreadLocation?, _ content: MessageContent?,
    _ recorded: RecordedEvent, blockers: Set<UserID>
  ) {
    scheduled.removeAll { $0.id == id }
    var message = ModelMessage(
      id: id, author: author, location: location?.location ?? .room(lastOrdinal + 1), root: location?.root.message,
      text: content?.text ?? "", sent: recorded.stamp, sentAt: recorded.occurredAt, revision: recorded.position)
    message.fingerprint = content.map { .message($0, author: author, thread: location?.root.message) }
    message.replyTo = content?.details?.replyTo
    message.mentions = content?.details?.mentions ?? Mentions()
    message.attachments = content?.details?.attachments ?? []
    message.custom = content?.details?.custom
    message.leftOut = blockers.filter { member($0) != nil }
    message.mentioned = mentionedMembers(in: message.mentions).subtracting(blockers)
    message.unmentioned = message.leftOut
    messages.append(message)
    if let location {
      let (root, before) = (location.root.message, location.ordinal - 1)
      if let starter = self.message(root)?.author, starter != author, !blockers.contains(starter) {
        follow(root, starter, from: before)
      }
      follow(root, author, from: location.ordinal)
      change(author) { $0.readThread(root, through: location.ordinal) }
      for user in message.mentioned { follow(root, user, from: before) }
    } else {
      change(author) { $0.read(through: message.location.ordinal, message.id, recorded.occurredAt) }
    }
  }

  /// An edit does not newly mention members who block the author or did so when the message was sent. A member whom the
  /// message already mentioned by name can stay mentioned.
  mutating func edit(_ id: MessageID, _ edit: MessageEdit?, _ recorded: RecordedEvent, blockers: Set<UserID>) {
    let named = mentionedMembers(in: edit?.mentions ?? Mentions())
    guard let old = message(id) else { return }
    let blocking = old.leftOut.union(blockers.filter { member($0) != nil })
    change(id) { message in
      message.edit(edit, recorded)
      message.mentioned = named.filter {
        !blocking.contains($0) || !old.mentions.everyone && old.mentioned.contains($0)
      }
      if !old.mentions.everyone { message.unmentioned = blocking }
    }
    guard let message = message(id), let root = message.root else { return }
    for user in named.subtracting(blocking) { follow(root, user, from: message.location.ordinal - 1) }
  }

  /// The mentioned users who are members now. A mention of anybody else has no effect.
  private func mentionedMembers(in mentions: Mentions) -> Set<UserID> {
    Set(mentions.users.filter { member($0) != nil })
  }

  /// Starts to follow a thread. Does nothing for a user who follows it already or has chosen not to.
  private mutating func follow(_ root: MessageID, _ user: UserID, from ordinal: UInt64) {
    change(user) { member in
      guard member.threads[root] == nil else { return }
      member.threads[root] = ThreadState(follows: true, marker: ordinal)
    }
  }

  mutating func takeAnnotation(_ event: RoomEvent, _ recorded: RecordedEvent) {
    switch event {
    case .annotations(.reactionAdded(let message, _, let user, let emoji, _)):
      // A reaction that exists already is recorded again only for the key.
      change(message) { message in
        guard !message.reactions.contains(where: { $0.emoji == emoji && $0.user == user }) else { return }
        message.reactions.append(
          ModelReaction(emoji: emoji, user: user, position: recorded.position, at: recorded.occurredAt))
      }
    case .annotations(.reactionRemoved(let message, _, let user, let emoji)):
      change(message) { message in
        message.reactions.removeAll { $0.emoji == emoji && $0.user == user }
        message.removedReactions.append(
          ModelReaction(emoji: emoji, user: user, position: recorded.position, at: recorded.occurredAt))
      }
    case .annotations(.pinned(let message, _)):
      change(message) { message in
        message.pinned =
          message.pinned ?? ModelPin(by: recorded.actor, position: recorded.position, at: recorded.occurredAt)
      }
    case .annotations(.unpinned(let message, _)): change(message) { $0.pinned = nil }
    default: break
    }
  }

  mutating func takeSchedule(_ event: RoomEvent, _ recorded: RecordedEvent) {
    switch event {
    case .scheduling(.scheduled(let id, let message?)):
      schedulings.append(
        ModelScheduling(
          id: id, author: message.author, scheduled: recorded.stamp, fingerprint: .scheduling(message)))
      scheduled.append(
        ModelScheduled(id: id, message: message, scheduled: recorded.stamp, revision: recorded.position))
    case .scheduling(.changed(let id, let edit)):
      guard let index = scheduled.firstIndex(where: { $0.id == id }) else { return }
      scheduled[index].message.change(edit)
      scheduled[index].revision = recorded.position
    case .scheduling(.cancelled(let id)): scheduled.removeAll { $0.id == id }
    case .scheduling(.failed(let id, let reason)):
      guard let index = scheduled.firstIndex(where: { $0.id == id }) else { return }
      scheduled[index].failure = reason
      scheduled[index].failed = recorded.stamp
      scheduled[index].revision = recorded.position
    default: break
    }
  }

  /// The newest pin first.
  var pins: [ModelMessage] {
    func place(_ message: ModelMessage) -> LogPosition { message.pinned?.position ?? .origin }
    return messages.filter { $0.pinned != nil }.sorted { place($0) > place($1) }
  }
}

extension ScheduledMessage {
  fileprivate mutating func change(_ edit: ScheduledMessageEdit) {
    if let sendAt = edit.sendAt { self.sendAt = sendAt }
    if let text = edit.text { content.text = text }
    if let mentions = edit.mentions {
      let old = content.details
      content.details = MessageDetails(
        replyTo: old?.replyTo, mentions: mentions, attachments: old?.attachments ?? [], custom: old?.custom)
    }
    if let body = edit.customBody, let old = content.details, var custom = old.custom {
      custom.body = body
      content.details = MessageDetails(
        replyTo: old.replyTo, mentions: old.mentions, attachments: old.attachments, custom: custom)
    }
  }
}
