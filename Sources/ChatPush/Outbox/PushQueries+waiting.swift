import ChatProjections

extension PushQueries {
  /// The number of notifications that have no recorded outcome. It is counted only up to `most`.
  func waiting(atMost most: Int) throws -> Int {
    let count = try CachedStatement(database, "SELECT count(*) FROM (SELECT 1 FROM outbox LIMIT ?)")
      .first(most) { try $0.number() }
    return Int(count ?? 0)
  }
}
