/// When a file that is being written is synced: after each MiB, and not only at the end.
///
/// A sync waits until the disk has everything that was written to any file before. If a read model wrote 16 MiB and then
/// synced them, each sync of the log in that time would take as long as that, and so would the messages that wait for it.
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
