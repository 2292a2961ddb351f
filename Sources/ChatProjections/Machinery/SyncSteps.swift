/// Decides when a file is synced while it is written: after each MiB, not only at the end.
///
/// A sync flushes the disk's cache, so it also waits for earlier writes to other files. After 16 MiB in one step, syncs of the
/// event log would take just as long, and messages wait for those.
struct SyncSteps: Sendable, Hashable {
  static let bytes = 1 << 20

  private var unsynced = 0

  /// - Returns: whether the file is to be synced now.
  mutating func wrote(_ count: Int) -> Bool {
    unsynced += count
    guard unsynced >= Self.bytes else { return false }
    unsynced = 0
    return true
  }
}
