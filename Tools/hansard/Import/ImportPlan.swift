import ChatPrimitives

/// Turns the lines of a history into commands: users and rooms as they appear, and joins where speaking or leaving
/// implies one. Depends on the lines alone, never on what the server has, so that every run sends the same.
struct ImportPlan {
  private struct Membership: Hashable {
    let room: RoomID
    let user: UserID
  }

  private(set) var counts = ImportCounts()
  /// By ID, since names that differ in their composed form only are two names here.
  private(set) var users: [UserID: String] = [:]
  private(set) var rooms: [RoomID: String] = [:]
  private var members: Set<Membership> = []
  /// Names that users were registered with as `externalId`. The server takes two that differ in their composed form only
  /// for the same, as comparing strings in Swift does; the later user goes without one.
  private var externalNames: Set<String> = []
  private var occurrences = LineOccurrences()

  /// A line that is none of a history.
  mutating func noteMalformedLine() {
    counts.lines += 1
    counts.failed += 1
  }

  /// The commands that the next line of the history comes to, in order.
  mutating func commands(for line: HistoryLine) -> [ImportCommandLine] {
    counts.lines += 1
    let identity = occurrences.identity(of: line)
    let user = DerivedID.user(named: line.user)
    let room = DerivedID.room(named: line.room)
    var commands: [ImportCommandLine] = []
    if users.updateValue(line.user, forKey: user) == nil {
      counts.users += 1
      let isFree = externalNames.insert(line.user).inserted
      commands.append(.registerUser(user, name: line.user, withExternalID: isFree, at: line.at))
    }
    if rooms.updateValue(line.room, forKey: room) == nil {
      counts.rooms += 1
      commands.append(.createRoom(room, name: line.room, at: line.at))
    }
    let membership = Membership(room: room, user: user)
    if members.insert(membership).inserted {
      commands.append(.join(room, user, key: DerivedID.joinKey(identity), at: line.at))
    }
    switch line.type {
    case .join:
      counts.joins += 1
    case .message:
      counts.messages += 1
      commands.append(.send(DerivedID.message(identity), room, user, text: line.text, at: line.at))
    case .leave:
      counts.leaves += 1
      members.remove(membership)
      commands.append(.leave(room, user, key: DerivedID.leaveKey(identity), at: line.at))
    }
    return commands
  }
}
