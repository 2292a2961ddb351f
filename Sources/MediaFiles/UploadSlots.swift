import ChatPrimitives

/// Limits the number of concurrent uploads, in total and for each user, so that no user can take all slots.
struct UploadSlots {
  private var count = 0
  private var users: [UserID: Int] = [:]

  /// After a successful call, the caller must call `leave`.
  mutating func enter(_ user: UserID) throws(MediaError) {
    guard users[user, default: 0] < Limits.uploadsOfUser else { throw .tooManyUploads }
    guard count < Limits.uploads else { throw .busy }
    count += 1
    users[user, default: 0] += 1
  }

  mutating func leave(_ user: UserID) {
    guard let own = users[user] else { return }
    count -= 1
    users[user] = own > 1 ? own - 1 : nil
  }
}
