package import ChatDomain
package import ChatPrimitives
package import GRDB

/// What each user has used on the last day on which they used anything: what quotas are held against, so that a restart
/// forgets nothing. Days are those of the events' times.
package struct UsageProjection: Projection {
  package typealias Queries = UsageQueries

  package static let name = "usage"
  package static let schemaVersion = 2

  package init() {}

  package static func createTables(_ database: Database) throws {
    try database.execute(
      sql: """
        CREATE TABLE usage (
          userId BLOB PRIMARY KEY NOT NULL,
          day INTEGER NOT NULL,
          messages INTEGER NOT NULL,
          mediaBytes INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID
        """)
  }

  package static func createIndexes(_ database: Database) throws {
    try database.execute(sql: "CREATE INDEX usage_by_day ON usage (day)")
  }

  package mutating func apply(_ events: ArraySlice<RecordedEvent>, to database: Database) throws {
    // A batch is seldom longer than a day: users are written once for each day in it.
    var newest = DailyUsage()
    for recorded in events {
      let used = Usage(of: recorded)
      guard !used.isNothing, let user = recorded.actor else { continue }
      if UsageDay(of: recorded.stamp.time) != newest.day { try write(newest, to: database) }
      newest.charge(used, to: user, at: recorded.stamp.time)
    }
    try write(newest, to: database)
  }

  private func write(_ usage: DailyUsage, to database: Database) throws {
    guard !usage.users.isEmpty else { return }
    let statement = try CachedStatement(
      database,
      """
      INSERT INTO usage (userId, day, messages, mediaBytes) VALUES (?, ?, ?, ?)
      ON CONFLICT (userId) DO UPDATE SET
        messages = excluded.messages + iif(day = excluded.day, messages, 0),
        mediaBytes = excluded.mediaBytes + iif(day = excluded.day, mediaBytes, 0),
        day = excluded.day
      """)
    for (user, used) in usage.users {
      try statement.run {
        $0.add(user)
        $0.add(usage.day.number)
        $0.add(used.messages)
        $0.add(used.mediaBytes)
      }
    }
  }
}

/// What can be asked of `usage`.
package struct UsageQueries: ReadModelQueries {
  package let database: Database

  package init(_ database: Database) {
    self.database = database
  }

  /// What all users have used on the newest day that anybody used anything on, of those up to `now`.
  package func newestDay(at now: Timestamp = .latest) throws -> DailyUsage {
    guard
      let day = try CachedStatement(database, "SELECT day FROM usage WHERE day <= ? ORDER BY day DESC LIMIT 1")
        .first({ $0.add(UsageDay(of: now).number) }, { try $0.number() })
    else { return DailyUsage() }
    var users: [UserID: Usage] = [:]
    try CachedStatement(database, "SELECT userId, messages, mediaBytes FROM usage WHERE day = ?")
      .forEach({ $0.add(day) }) { row in
        let user: UserID = try row.id()
        let messages = try row.unsigned()
        users[user] = Usage(messages: messages, mediaBytes: try row.unsigned())
      }
    return DailyUsage(day: UsageDay(number: day), users: users)
  }

  /// What one user has used on the last day on which they used anything.
  package func lastDay(of user: UserID) throws -> DailyUsage {
    try CachedStatement(database, "SELECT day, messages, mediaBytes FROM usage WHERE userId = ?")
      .first({ $0.add(user) }) { row in
        let (day, messages) = try (row.number(), row.unsigned())
        return DailyUsage(
          day: UsageDay(number: day), users: [user: Usage(messages: messages, mediaBytes: try row.unsigned())])
      } ?? DailyUsage()
  }
}
