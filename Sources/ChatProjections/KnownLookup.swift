package import ChatDomain
package import ChatPrimitives
import EventStore

/// Which of the requested sessions, rooms and workspaces have ended.
package struct KnownEndings: Sendable {
  /// Contains only keys that have ended.
  package var endings: [EndingKey: Ending] = [:]
  /// All events up to this position are included.
  package var position: LogPosition
}

extension ReadModels {
  /// What is known about the keys of `lookups`, and the position up to which all events are included. Reads only the
  /// read models that these lookups need, each in one snapshot.
  package func known(by lookups: [Lookup]) async throws -> (Known, asOf: LogPosition) {
    let ended = try await endings(of: lookups.compactMap(\.ending))
    let (reports, position) = try await reports(by: lookups.compactMap(\.report))
    let contents = lookups.compactMap(\.content)
    let head = contents.isEmpty ? nil : feed.head
    if let head { try await ids.wait(for: head) }
    var (known, idsPosition) = try await knownFromIDs(by: lookups)
    known.endings = ended.endings
    known.reports = reports
    if let head { known.contents = try await self.contents(of: contents, known.messages, asOf: head) }
    return (known, min(ended.position, position, idsPosition))
  }

  /// What the ID index knows, and the position up to which all events are included. If no lookup asks for IDs, the index
  /// is not read, and the position is the highest possible, so that it does not lower the minimum.
  private func knownFromIDs(by lookups: [Lookup]) async throws -> (Known, LogPosition) {
    guard lookups.contains(where: \.asksForIDs) else { return (Known(), LogPosition(.max)) }
    return try await ids.read { (try $0.known(by: lookups), try $0.checkpoint().position) }
  }

  /// What is known about these reports, and the position up to which all events are included.
  private func reports(by keys: [ReportKey]) async throws -> ([ReportKey: KnownReport], LogPosition) {
    if keys.isEmpty { return ([:], LogPosition(.max)) }
    return try await rooms.read { (try $0.knownReports(keys), try $0.checkpoint().position) }
  }

  /// The content of these messages at `head` or later, without deleted ones. Waits for the timeline, so that a report
  /// has every edit that was durable before the request.
  /// - Parameter messages: what the ID index knows about the messages, with their locations.
  private func contents(
    of keys: [MessageKey], _ messages: [MessageKey: KnownMessage], asOf head: LogPosition
  ) async throws -> [MessageKey: MessageContent] {
    try await timeline.wait(for: head)
    return try await timeline.read { timeline in
      var contents: [MessageKey: MessageContent] = [:]
      for key in keys {
        guard let location = messages[key]?.location, let row = try timeline.message(at: location, of: key.room),
          row.deletedAt == nil
        else { continue }
        contents[key] = MessageContent(text: row.text, details: row.details)
      }
      return contents
    }
  }
}

extension ReadModels {
  /// Finds out which of these have ended. Reads only the read models that these keys need, each in one snapshot.
  package func endings(of keys: [EndingKey]) async throws -> KnownEndings {
    var found = KnownEndings(position: LogPosition(.max))
    var sessions: [(UserID, SessionID)] = []
    var rooms: [RoomID] = []
    var workspaces: [WorkspaceID] = []
    for key in keys {
      switch key {
      case .session(let user, let session): sessions.append((user, session))
      case .room(let room): rooms.append(room)
      case .workspace(let workspace): workspaces.append(workspace)
      }
    }
    if !sessions.isEmpty { found.add(try await accounts.read { [sessions] in try $0.endings(of: sessions) }) }
    if !rooms.isEmpty || !workspaces.isEmpty {
      found.add(try await self.rooms.read { [rooms, workspaces] in try $0.endings(of: rooms, workspaces) })
    }
    return found
  }
}

extension KnownEndings {
  fileprivate mutating func add(_ other: KnownEndings) {
    endings.merge(other.endings) { first, _ in first }
    position = min(position, other.position)
  }
}

extension AccountsQueries {
  func endings(of sessions: [(UserID, SessionID)]) throws -> KnownEndings {
    var found = KnownEndings(position: try checkpoint().position)
    for (user, session) in sessions {
      guard let end = try self.session(session, of: user)?.end else { continue }
      found.endings[.session(user, session)] = .session(end.reason, end.stamp)
    }
    return found
  }

  /// Uses an index, so that it reads no other sessions.
  func sessionsEnded(since time: Timestamp) throws -> [EndedSession] {
    try CachedStatement(
      database,
      """
      SELECT userId, id, max(endedTime, newestTokenTime) FROM session INDEXED BY session_by_last_token
      WHERE endedTime IS NOT NULL AND max(endedTime, newestTokenTime) >= ?
      """
    ).all(time) { try EndedSession(user: $0.id(), session: $0.id(), time: $0.time()) }
  }
}

/// An ended session. `time` is when it ended or when its newest token was issued, whichever is later. A token can be
/// newer than the end if it was issued while the clock was ahead.
package struct EndedSession: Sendable, Hashable {
  package let user: UserID
  package let session: SessionID
  package let time: Timestamp
}

extension RoomsQueries {
  func endings(of rooms: [RoomID], _ workspaces: [WorkspaceID]) throws -> KnownEndings {
    var found = KnownEndings(position: try checkpoint().position)
    for room in rooms {
      found.endings[.room(room)] = try CachedStatement(
        database, "SELECT fingerprint, position, time FROM deletedRoom WHERE id = ?"
      ).first(room, read: Self.readDeletion)
    }
    for workspace in workspaces {
      found.endings[.workspace(workspace)] = try CachedStatement(
        database,
        """
        SELECT fingerprint, deletedPosition, deletedTime FROM workspace WHERE id = ? AND deletedPosition IS NOT NULL
        """
      ).first(workspace, read: Self.readDeletion)
    }
    return found
  }

  private static func readDeletion(_ row: inout RowReader) throws -> Ending {
    let fingerprint = try row.optional { try $0.fingerprint() }
    return .deletion(try row.stamp(), creationFingerprint: fingerprint)
  }
}
