package import ChatDomain
package import ChatPrimitives

/// The earlier texts of a message.
extension TimelineQueries {
  /// The texts of a message, oldest first, up to the current one; none if the message is deleted. Nil if there is no
  /// such message or the user may not see the room.
  /// - Parameter cursor: `next` of the previous page; nil for the first.
  package func history(
    of location: MessageLocation, in room: RoomID, for user: UserID?, after cursor: LogPosition?, limit: Int
  ) throws -> MessageHistoryPage? {
    guard try mayRead(room, user), let message = try messages(of: room, thread: location.thread, location.run).first
    else { return nil }
    guard message.deletedAt == nil else { return MessageHistoryPage(versions: [], next: nil) }
    let start = cursor ?? .origin
    let (earlier, isCut) = try CachedStatement(
      database,
      """
      SELECT position, writtenAt, details, text FROM revision
      WHERE roomId = ? AND thread = ? AND ordinal = ? AND position > ? ORDER BY position LIMIT ?
      """
    ).page(of: limit, room, location, start, limit + 1, bytes: { $0.contentBytes }) { row in
      let (position, time) = try (row.position(), row.time())
      let details = try row.optionalDetails()
      return MessageVersion(try row.text(), details, time, position)
    }
    let current = MessageVersion(
      message.text, message.details, message.editedAt ?? message.sentAt, message.revision)
    var budget = PageBudget()
    let all = isCut || current.position <= start ? earlier : earlier + [current]
    let versions = Array(all.prefix(limit).prefix { budget.take($0.contentBytes) })
    return MessageHistoryPage(
      versions: versions, next: isCut || versions.count < all.count ? versions.last?.position : nil)
  }
}

extension MessageVersion {
  fileprivate var contentBytes: Int { text.jsonBytes + (customBody?.utf8.count ?? 0) }

  fileprivate init(_ text: String, _ details: MessageDetails?, _ time: Timestamp, _ position: LogPosition) {
    self.init(
      text: text, mentions: details?.mentions ?? Mentions(), customBody: details?.custom?.body, writtenAt: time,
      position: position)
  }
}

extension MessageLocation {
  /// The range of only this ordinal.
  var run: ClosedRange<UInt64> { ordinal...ordinal }
}
