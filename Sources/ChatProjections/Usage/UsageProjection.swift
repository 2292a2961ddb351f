package import ChatDomain
package import ChatPrimitives
package import GRDB

/// What each user used on the last day on which they used anything. Quotas are checked against it, so that a restart
/// does not reset them. Days are those of the events' times.
package struct UsageProjection: Projection {
  package typealias Queries = UsageQueries

  package static let name = "usage"
  package static let schemaVersion = 3
  /// Almost every event changes a row, and requests read it only for uploads, which do not wait for this delay.
  package static let gatheringMilliseconds = 1_000

  package init() {}

  /// The counted values, in the order of the columns.
  fileprivate static let counts = [
    "messages", "mediaBytes", "rooms", "workspaces", "invites", "scheduledBytes", "events", "bytes",
  ]

  package static func createTables(_ database: Database) throws {
    try database.execute(
      sql: """
        CREATE TABLE usage (
          userId BLOB PRIMARY KEY NOT NULL,
          day INTEGER NOT NULL,
          \(counts.map { "\($0) INTEGER NOT NULL" }.joined(separator: ",\n  "))
        ) STRICT, WITHOUT ROWID
        """)
  }

  package static func createIndexes(_ database: Database) throws {
    try database.execute(sql: "CREATE INDEX usage_by_day ON usage (day)")
  }

  package mutating func apply(_ events: ArraySlice<RecordedEvent>, to database: Database) throws {
    // A batch seldom covers more than one day, so each user is written once for each day in it.
    var newest = DailyUsage()
    for recorded in events {
      if case .user(let user, .deletion(.deleted)) = recorded.event {
        try write(newest, to: database)
        newest = DailyUsage()
        try CachedStatement(database, "DELETE FROM usage WHERE userId = ?").run(user)
        continue
      }
      let used = Usage(of: recorded)
      guard !used.isNothing, let user = recorded.actor else { continue }
      if UsageDay(of: recorded.stamp.time) != newest.day { try write(newest, to: database) }
      newest.charge(used, to: user, at: recorded.stamp.time)
    }
    try write(newest, to: database)
  }

  private static let upsert = """
    INSERT INTO usage (userId, day, \(counts.joined(separator: ", ")))
    VALUES (?, ?\(String(repeating: ", ?", count: counts.count)))
    ON CONFLICT (userId) DO UPDATE SET
      \(counts.map { "\($0) = excluded.\($0) + iif(day = excluded.day, \($0), 0)" }.joined(separator: ", ")),
      day = excluded.day
    """

  private func write(_ usage: DailyUsage, to database: Database) throws {
    guard !usage.users.isEmpty else { return }
    let statement = try CachedStatement(database, Self.upsert)
    for (user, used) in usage.users {
      try statement.run(
        user, usage.day.number, used.messages, used.mediaBytes, used.rooms, used.workspaces, used.invites,
        used.scheduledBytes, used.events, used.bytes)
    }
  }
}

extension ReadModels {
  package var usage: ProjectionRunner<UsageProjection> { self[UsageProjection.self] }
}

/// The queries on `usage`.
package struct UsageQueries: ReadModelQueries {
  package let database: Database

  package init(_ database: Database) {
    self.database = database
  }

  /// What all users used on the newest day, up to `now`, on which anybody used anything.
  package func newestDay(at now: Timestamp = .latest) throws -> DailyUsage {
    guard
      let day = try CachedStatement(database, "SELECT day FROM usage WHERE day <= ? ORDER BY day DESC LIMIT 1")
        .first(UsageDay(of: now).number, read: { try $0.number() })
    else { return DailyUsage() }
    var users: [UserID: Usage] = [:]
    try CachedStatement(database, "SELECT userId, \(Self.counts) FROM usage WHERE day = ?")
      .forEach(day) { row in
        let user: UserID = try row.id()
        users[user] = try Self.readUsage(&row)
      }
    return DailyUsage(day: UsageDay(number: day), users: users)
  }

  /// What one user used on the last day on which they used anything.
  package func lastDay(of user: UserID) throws -> DailyUsage {
    try CachedStatement(database, "SELECT day, \(Self.counts) FROM usage WHERE userId = ?")
      .first(user) { row in
        let day = try row.number()
        return DailyUsage(day: UsageDay(number: day), users: [user: try Self.readUsage(&row)])
      } ?? DailyUsage()
  }

  private static let counts = UsageProjection.counts.joined(separator: ", ")

  private static func readUsage(_ row: inout RowReader) throws -> Usage {
    var usage = Usage()
    usage.messages = try row.unsigned()
    usage.mediaBytes = try row.unsigned()
    usage.rooms = try row.unsigned()
    usage.workspaces = try row.unsigned()
    usage.invites = try row.unsigned()
    usage.scheduledBytes = try row.unsigned()
    usage.events = try row.unsigned()
    usage.bytes = try row.unsigned()
    return usage
  }
}
