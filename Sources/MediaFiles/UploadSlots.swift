import ChatPrimitives

/// Lets a bounded number of uploads in at once, and few of one user, so that nobody takes the places of all others.
struct UploadSlots {
  private var count = 0
  private var users: [UserID: Int] = [:]

  /// Whoever is let in must `leave`.
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
