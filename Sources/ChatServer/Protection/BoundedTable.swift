/// A dictionary with a limited number of entries. When the newer half is full, the older half is dropped, with all
/// entries that were not looked up since. An operation takes the same time however many entries there are.
struct BoundedTable<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  private var newer: [Key: Value] = [:]
  private var older: [Key: Value] = [:]
  private let halfLimit: Int
  /// When `dropUnused` last made the newer half the older one, in the caller's clock.
  private var rotatedAt: UInt64 = 0

  init(limit: Int) {
    halfLimit = max(1, limit / 2)
  }

  var count: Int { newer.count + older.count }

  /// Changes an entry in place.
  /// - Parameter defaultValue: the value of an entry that does not exist yet.
  mutating func update<Result>(_ key: Key, default defaultValue: Value, _ change: (inout Value) -> Result) -> Result {
    if let index = newer.index(forKey: key) { return change(&newer.values[index]) }
    var value = older.removeValue(forKey: key) ?? defaultValue
    if newer.count >= halfLimit {
      older = newer
      newer = [:]
    }
    let result = change(&value)
    newer[key] = value
    return result
  }

  /// The value of an entry, or nil if it does not exist. Counts as looking it up.
  mutating func find(_ key: Key) -> Value? {
    if let value = newer[key] { return value }
    guard let value = older[key] else { return nil }
    return update(key, default: value) { $0 }
  }

  /// Drops entries that were not looked up for `lifetime`, at the latest after twice that time.
  /// - Parameter now: the time of a clock that only moves forward, in the unit of `lifetime`.
  mutating func dropUnused(at now: UInt64, after lifetime: UInt64) {
    let age = now - min(now, rotatedAt)
    guard age >= lifetime else { return }
    older = age / 2 >= lifetime ? [:] : newer
    newer = [:]
    rotatedAt = now
  }

  mutating func remove(_ key: Key) {
    if newer.removeValue(forKey: key) == nil { older.removeValue(forKey: key) }
  }
}
