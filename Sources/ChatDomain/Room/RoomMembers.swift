package import ChatPrimitives
import HeapModule

/// A room's members, and the next owner. The next owner is found without reading all members, because a user who leaves
/// a workspace may own a thousand channels with a hundred thousand members each.
package struct RoomMembers: Sendable {
  /// With up to this many members, the next owner is found by reading all of them, and `heirs` is nil.
  static let scanned = 64

  private var byUser: [UserID: Member]
  /// All members except the owner, with the next owner at the top. May contain outdated entries, but not at the top.
  /// Nil if there are few members.
  private var heirs: Heap<Heir>?

  package init(_ byUser: [UserID: Member] = [:]) {
    self.byUser = byUser
    fitHeirs()
  }

  package var isEmpty: Bool { byUser.isEmpty }
  package var count: Int { byUser.count }
  package var users: Dictionary<UserID, Member>.Keys { byUser.keys }
  package subscript(_ user: UserID) -> Member? { byUser[user] }

  /// In the order of their IDs. Reads all members.
  var owners: [UserID] { byUser.lazy.filter { $0.value.role == .owner }.map(\.key).sorted() }

  /// The next owner: the member with the highest role, and among several the one who joined first.
  var heir: UserID? {
    if let heirs { return heirs.max?.user }
    return byUser.lazy.compactMap { Heir($0, $1) }.max()?.user
  }

  // MARK: - Changes

  /// Does nothing if the user is a member already.
  mutating func admit(_ user: UserID, _ member: Member) {
    guard byUser[user] == nil else { return }
    byUser[user] = member
    noteRank(of: user, member)
  }

  mutating func dismiss(_ user: UserID) -> Member? {
    guard let member = byUser.removeValue(forKey: user) else { return nil }
    fitHeirs()
    return member
  }

  mutating func setRole(_ role: Role, of user: UserID) {
    byUser[user]?.role = role
    if let member = byUser[user] { noteRank(of: user, member) }
  }

  /// Changes any part of a member except the role and the join, which decide the next owner. Does nothing for others.
  mutating func change(_ user: UserID, _ body: (inout Member) -> Void) {
    guard let index = byUser.index(forKey: user) else { return }
    body(&byUser.values[index])
  }

  // MARK: - Heirs

  private mutating func noteRank(of user: UserID, _ member: Member) {
    if let heir = Heir(user, member) { heirs?.insert(heir) }
    fitHeirs()
  }

  /// Updates `heirs` after a change: nil for few members, and never many more entries than members.
  private mutating func fitHeirs() {
    // The gap between the two limits keeps it from being rebuilt each time a member joins or leaves.
    if byUser.count < Self.scanned / 2 { heirs = nil }
    guard let kept = heirs?.count ?? (byUser.count > Self.scanned ? Int.max : nil) else { return }
    if kept > 2 * byUser.count + Self.scanned { heirs = Heap(byUser.compactMap { Heir($0, $1) }) }
    while let top = heirs?.max, !isTrue(top) { heirs?.removeMax() }
  }

  private func isTrue(_ heir: Heir) -> Bool {
    byUser[heir.user].map { $0.role == heir.role && $0.joined.position == heir.joined } ?? false
  }
}

extension RoomMembers: Equatable {
  package static func == (left: RoomMembers, right: RoomMembers) -> Bool { left.byUser == right.byUser }
}

/// A member who may become the owner. The greatest is the next owner.
private struct Heir: Comparable, Sendable {
  let role: Role
  let joined: LogPosition
  let user: UserID

  /// Nil for an owner.
  init?(_ user: UserID, _ member: Member) {
    guard member.role != .owner else { return nil }
    role = member.role
    joined = member.joined.position
    self.user = user
  }

  static func < (left: Heir, right: Heir) -> Bool {
    (left.role, right.joined, right.user) < (right.role, left.joined, left.user)
  }
}
