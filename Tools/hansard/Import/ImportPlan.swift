import ChatPrimitives

/// Turns the lines of a history into commands. A user or room is created when it first appears. A message or a leave
/// implies a join if the user has not joined. The commands depend only on the lines, not on the server's data, so every
/// run sends the same commands.
struct ImportPlan {
  private struct Membership: Hashable {
    let room: RoomID
    let user: UserID
  }

  private(set) var counts = ImportCounts()
  /// Keyed by ID because a dictionary would treat names with different Unicode normalization forms as the same name.
  private(set) var users: [UserID: String] = [:]
  private(set) var rooms: [RoomID: String] = [:]
  private var members: Set<Membership> = []
  /// Names that were used as an `externalId`. The server treats names with different Unicode normalization forms as the
  /// same, as Swift does when it compares strings. The later of two such users gets no `externalId`.
  private var externalNames: Set<String> = []
  private var occurrences = LineOccurrences()

  /// Counts a line that is not valid in a history.
  mutating func noteMalformedLine() {
    counts.lines += 1
    counts.failed += 1
  }

  /// The commands for the next line of the history, in order.
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
