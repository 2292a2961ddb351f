import ChatDomain
import ChatPrimitives
import EventStore
import Foundation
import GRDB

@testable import ChatProjections

/// A history of rooms with messages, and the current state of each message.
struct SearchScript {
  struct Said {
    let room: RoomID
    let location: MessageLocation
    let id: MessageID
    let sender: UserID
    let sentAt: Timestamp
    let hasMedia: Bool
    /// Nil if the message was deleted.
    var text: String?
    /// Where it was sent or last edited.
    var position: LogPosition
  }

  private(set) var script = EventScript()
  private(set) var said: [Said] = []
  private(set) var members: [RoomID: Set<UserID>] = [:]
  /// Deleted rooms.
  private(set) var closed: Set<RoomID> = []
  private var ordinals: [RoomID: UInt64] = [:]
  private var nextID: UInt64 = 1000

  var events: [RecordedEvent] { script.events }

  mutating func open(_ room: RoomID, _ users: UserID...) {
    script.create(room, by: users[0])
    members[room] = [users[0]]
    for user in users.dropFirst() { join(user, room) }
  }

  mutating func join(_ user: UserID, _ room: RoomID) {
    script.room(room, .members(.joined(user, role: .member, invite: nil)), by: user)
    members[room, default: []].insert(user)
  }

  mutating func leave(_ user: UserID, _ room: RoomID, _ event: RoomEvent? = nil) {
    script.room(room, event ?? .members(.left(user)), by: user)
    members[room]?.remove(user)
  }

  /// - Returns: the index of the message in `said`.
  @discardableResult
  mutating func say(
    _ text: String, in room: RoomID, by user: UserID, at time: Timestamp? = nil, inThread root: Int? = nil,
    details: MessageDetails? = nil
  ) -> Int {
    nextID += 1
    let id: MessageID = .numbered(nextID)
    var thread: ThreadLocation?
    if let root {
      let count = said.count { $0.room == room && $0.location.thread == said[root].location.ordinal }
      thread = ThreadLocation(
        root: ThreadRoot(message: said[root].id, ordinal: said[root].location.ordinal), rootAuthor: said[root].sender,
        ordinal: UInt64(count + 1))
    } else {
      ordinals[room, default: 0] += 1
    }
    let stamp = script.room(
      room, .messages(.sent(id, author: user, thread: thread, MessageContent(text: text, details: details))), by: user,
      at: time)
    said.append(
      Said(
        room: room, location: thread?.location ?? .room(ordinals[room, default: 0]), id: id, sender: user,
        sentAt: time ?? stamp.time, hasMedia: details?.attachments.isEmpty == false, text: text,
        position: stamp.position))
    return said.count - 1
  }

  mutating func edit(_ index: Int, _ text: String) { edit(index, .plain(text)) }

  mutating func edit(_ index: Int, _ edit: MessageEdit) {
    let message = said[index]
    let stamp = script.room(
      message.room, .messages(.edited(message.id, at: message.location, edit)), by: message.sender)
    if let text = edit.text { said[index].text = text }
    said[index].position = stamp.position
  }

  /// - Parameter isByService: whether a service deletes the message, as in an erasure.
  mutating func delete(_ index: Int, isByService: Bool = false) {
    let message = said[index]
    script.room(
      message.room, .messages(.deleted(message.id, at: message.location)), by: isByService ? nil : message.sender)
    said[index].text = nil
  }

  /// Extends the log to a position with events without text.
  mutating func pass(to position: LogPosition, in room: RoomID) {
    while script.last.position < position { script.room(room, .lifecycle(.archived)) }
  }

  mutating func close(_ room: RoomID) {
    script.room(room, .lifecycle(.deleted), by: nil)
    closed.insert(room)
    members[room] = []
    for index in said.indices where said[index].room == room { said[index].text = nil }
  }
}

/// The positions of the hits, newest first.
func find(
  _ query: String, as user: UserID, _ queue: some DatabaseReader, limit: Int = 10_000,
  _ change: (inout SearchRequest) -> Void = { _ in }
) throws -> [LogPosition] {
  try hits(query, as: user, queue, limit: limit, change).map(\.order.position).sorted(by: >)
}

func hits(
  _ query: String, as user: UserID, _ queue: some DatabaseReader, limit: Int = 10_000,
  _ change: (inout SearchRequest) -> Void = { _ in }
) throws -> [SearchHit] {
  guard let words = SearchWords(query) else { return [] }
  var request = SearchRequest(words: words, user: user)
  change(&request)
  return try queue.read { try SearchQueries($0).page(request, limit: limit).hits }
}

/// Details with an attachment of this name.
func typed(_ type: String) -> MessageDetails { MessageDetails(custom: CustomPart(type: type, body: "null")) }

func picture(_ name: String) -> MessageDetails {
  let media = Media(hash: [UInt8](repeating: 1, count: 32), contentType: "image/png", size: 1)
  return MessageDetails(attachments: [Attachment(media: .numbered(7), content: media, name: name)])
}
