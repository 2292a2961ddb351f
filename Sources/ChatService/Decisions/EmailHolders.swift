import ChatPrimitives
import ChatProjections

/// Which user has which e-mail address. Addresses are compared in one form (`EmailForm`). In an older log several
/// accounts may have the same address; each keeps it.
struct EmailHolders: Sendable, Equatable {
  private var users: [[UInt8]: UserID] = [:]
  /// The users of addresses that several users have.
  private var shared: [[UInt8]: Set<UserID>] = [:]
  private var emails: [UserID: [UInt8]] = [:]

  /// - Parameter email: in any form, at most `Limits.emailBytes` long. With several holders, the lowest ID wins.
  func user(withEmail email: String) -> UserID? { users[Self.key(email)] }

  /// A user has one address. The previous one becomes available.
  mutating func enter(_ email: String, of user: UserID) {
    let key = Self.key(email)
    if let old = emails.updateValue(key, forKey: user), old != key { leave(old, user) }
    guard let holder = users[key], holder != user else {
      users[key] = user
      return
    }
    shared[key, default: [holder]].insert(user)
    users[key] = min(holder, user)
  }

  /// The user's address becomes available.
  mutating func leave(_ user: UserID) {
    if let key = emails.removeValue(forKey: user) { leave(key, user) }
  }

  private mutating func leave(_ key: [UInt8], _ user: UserID) {
    guard var holders = shared[key] else {
      users[key] = nil
      return
    }
    holders.remove(user)
    users[key] = holders.min()
    shared[key] = holders.count > 1 ? holders : nil
  }

  private static func key(_ email: String) -> [UInt8] { Array(EmailForm.compared(email).utf8) }
}
