package import ChatPrimitives
import HeapModule

/// A room's members, and who of them is next to own it: found without a look at all of them, for one who leaves a
/// workspace may own a thousand channels with a hundred thousand members each.
package struct RoomMembers: Sendable {
  /// Up to this many members the next owner is looked for among all of them, and nothing is kept for it.
  static let scanned = 64

  private var byUser: [UserID: Member]
  /// Whoever does not own the room, the next owner at the top. May hold entries that are true no more, though not at the
  /// top. Nil where there are few members.
  private var heirs: Heap<Heir>?

  package init(_ byUser: [UserID: Member] = [:]) {
    self.byUser = byUser
    fitHeirs()
  }

  package var isEmpty: Bool { byUser.isEmpty }
  package var count: Int { byUser.count }
  package var users: Dictionary<UserID, Member>.Keys { byUser.keys }
  package subscript(_ user: UserID) -> Member? { byUser[user] }

  /// In the order of their IDs. Looks at all members.
  var owners: [UserID] { byUser.lazy.filter { $0.value.role == .owner }.map(\.key).sorted() }

  /// Who owns the room next, when its owner goes: of the highest role, and among these the one who joined first.
  var heir: UserID? {
    if let heirs { return heirs.max?.user }
    return byUser.lazy.compactMap { Heir($0, $1) }.max()?.user
  }

  // MARK: - Changes

  /// Of who is a member already nothing changes.
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

  /// Changes anything of a member but what ownership passes by: the role and the join. Nothing happens where there is none.
  mutating func change(_ user: UserID, _ body: (inout Member) -> Void) {
    guard let index = byUser.index(forKey: user) else { return }
    body(&byUser.values[index])
  }

  // MARK: - Heirs

  private mutating func noteRank(of user: UserID, _ member: Member) {
    if let heir = Heir(user, member) { heirs?.insert(heir) }
    fitHeirs()
  }

  /// Makes what is kept of heirs fit the members: nothing for few of them, and never many more entries than members.
  private mutating func fitHeirs() {
    // Between the two, members come and go without its being made anew each time.
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

/// A member who may come to own the room, ordered by who is to.
private struct Heir: Comparable, Sendable {
  let role: Role
  let joined: LogPosition
  let user: UserID

  /// Nil for who owns it.
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
