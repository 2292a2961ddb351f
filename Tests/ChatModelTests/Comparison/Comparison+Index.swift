import ChatDomain
import ChatPrimitives
import ChatProjections
import ChatService
import EventLogSimulation
import EventStore

/// What deciders look up in the ID index.
extension Comparison {
  /// Compares what the index has of a room's newest messages, of some others, and of a message that does not exist.
  ///
  /// - Parameter mentioned: messages of the room that a command was about; nil for all messages of the room.
  func compareIndex(_ id: RoomID, mentioned: Set<MessageID>?) async throws {
    guard let room = model.rooms[id], room.exists else { return }
    let stranger: MessageID = ID(UUIDBytes(high: 0xdead, low: 0xbeef))
    let newest = Set(room.messages.suffix(4).flatMap { [$0.id, $0.root].compactMap { $0 } })
    let messages = room.messages.filter { mentioned?.union(newest).contains($0.id) ?? true }
    let schedulings = room.schedulings.filter { scheduling in
      mentioned.map { $0.contains(scheduling.id) || scheduling == room.schedulings.last } ?? true
    }
    func keys(_ ids: [MessageID]) -> [MessageKey] { (ids + [stranger]).map { MessageKey(room: id, message: $0) } }
    let (messageKeys, schedulingKeys) = (keys(messages.map(\.id)), keys(schedulings.map(\.id)))
    try await chat.readModels.ids.wait(for: chat.store.head)
    let (found, scheduled) = try await chat.readModels.ids.read { ids in
      (try ids.messages(messageKeys), try ids.scheduled(schedulingKeys))
    }
    let expected = messages.map { IndexedMessage($0, replies: room.thread(of: $0.id).count) }
    try expect("ID index of r\(id.short)", expected + [nil], messageKeys.map { found[$0].map { IndexedMessage($0) } })
    try expect(
      "scheduled in the ID index of r\(id.short)", schedulings.map { IndexedScheduling($0) } + [nil],
      schedulingKeys.map { scheduled[$0].map { IndexedScheduling($0) } })
  }

  /// Compares what the index has of commands that were done under a key, and of one that was not.
  func compareCommands(_ commands: [ModelCommand]) async throws {
    let stranger = ModelCommand(actor: UUIDBytes(high: 0xdead, low: 0xbeef), key: ID(UUIDBytes(high: 1, low: 1)))
    let asked = commands.sorted { ($0.actor, $0.key) < ($1.actor, $1.key) } + [stranger]
    try await chat.readModels.ids.wait(for: chat.store.head)
    let keys = asked.map { CommandKey(actor: $0.actor, command: $0.key) }
    let found = try await chat.readModels.ids.read { ids in try ids.commands(keys) }
    try expect(
      "commands in the ID index", asked.map { model.commands[$0] },
      keys.map { found[$0].map { ModelKnownCommand(stamp: $0.stamp, fingerprint: $0.fingerprint) } })
  }
}

private struct IndexedMessage: Equatable {
  let author: UserID
  let location: MessageLocation
  let replies: UInt64
  let sent: Stamp
  let sentAt: Timestamp
  let revision: LogPosition
  let isDeleted: Bool
  let fingerprint: Fingerprint?

  init(_ message: ModelMessage, replies: Int) {
    author = message.author
    location = message.location
    self.replies = UInt64(replies)
    sent = message.sent
    sentAt = message.sentAt
    revision = message.revision
    isDeleted = message.isDeleted
    fingerprint = message.fingerprint
  }

  init(_ message: KnownMessage) {
    author = message.author
    location = message.location
    replies = message.replies
    sent = message.sent
    sentAt = message.sentAt
    revision = message.revision
    isDeleted = message.isDeleted
    fingerprint = message.fingerprint
  }
}

private struct IndexedScheduling: Equatable {
  let author: UserID
  let scheduled: Stamp
  let fingerprint: Fingerprint?

  init(_ scheduling: ModelScheduling) {
    author = scheduling.author
    scheduled = scheduling.scheduled
    fingerprint = scheduling.fingerprint
  }

  init(_ scheduling: KnownScheduledMessage) {
    author = scheduling.author
    scheduled = scheduling.scheduled
    fingerprint = scheduling.fingerprint
  }
}
