import DequeModule

/// Shares a few slots fairly among users. Each user can have only a few of them, waiting users take turns, and the
/// tickets of one user are served in order of arrival. When the queue is full, the user with the most waiting tickets
/// loses one.
package struct FairQueue<User: Hashable & Sendable, Ticket: Hashable & Sendable>: Sendable {
  package enum Entry: Sendable, Hashable {
    case admitted
    /// - Parameter evicted: the ticket that was removed from the queue to make room.
    case waits(evicted: Ticket?)
    /// The queue is full, and no user has more tickets in it than this user would have.
    case full
  }

  private let slotsOfUser: Int
  private let waitingLimit: Int
  private var free: Int
  private var running: [User: Int] = [:]
  private var waiting: [User: Deque<Ticket>] = [:]
  /// The users with waiting tickets, in the order of their turns. Some of them may have withdrawn their last one.
  private var turns: Deque<User> = []
  /// How many of `turns` have no ticket.
  private var withdrawn = 0
  package private(set) var waitingCount = 0

  /// - Parameters:
  ///   - slots: the number of slots.
  ///   - slotsOfUser: the maximum number of slots for one user.
  ///   - waitingLimit: the maximum number of waiting tickets.
  package init(slots: Int, slotsOfUser: Int, waitingLimit: Int) {
    free = slots
    self.slotsOfUser = slotsOfUser
    self.waitingLimit = waitingLimit
  }

  /// Takes a slot for the user if one is free; otherwise changes nothing.
  /// - Returns: whether one was free.
  package mutating func enterIfFree(_ user: User) -> Bool {
    guard free > 0, running[user, default: 0] < slotsOfUser else { return false }
    start(user)
    return true
  }

  package mutating func enter(_ ticket: Ticket, of user: User) -> Entry {
    if enterIfFree(user) { return .admitted }
    var evicted: Ticket?
    if waitingCount == waitingLimit {
      evicted = makeRoom(for: user)
      if evicted == nil { return .full }
    }
    switch waiting[user]?.isEmpty {
    case nil: turns.append(user)
    case true?: withdrawn -= 1
    case false?: break
    }
    waiting[user, default: []].append(ticket)
    waitingCount += 1
    return .waits(evicted: evicted)
  }

  /// Releases a slot of the user.
  /// - Returns: the ticket that gets the slot.
  package mutating func leave(_ user: User) -> Ticket? {
    guard let own = running[user] else { return nil }
    running[user] = own > 1 ? own - 1 : nil
    free += 1
    return next()
  }

  /// Withdraws a ticket.
  /// - Returns: whether it was waiting.
  package mutating func withdraw(_ ticket: Ticket, of user: User) -> Bool {
    guard let index = waiting[user]?.firstIndex(of: ticket) else { return false }
    waiting[user]?.remove(at: index)
    waitingCount -= 1
    forgetIfEmpty(user)
    return true
  }

  private mutating func start(_ user: User) {
    free -= 1
    running[user, default: 0] += 1
  }

  private mutating func next() -> Ticket? {
    while let first = turns.first, waiting[first]?.isEmpty == true {
      turns.removeFirst()
      waiting[first] = nil
      withdrawn -= 1
    }
    let found = turns.firstIndex { running[$0, default: 0] < slotsOfUser && waiting[$0]?.isEmpty == false }
    guard let index = found else { return nil }
    let user = turns.remove(at: index)
    guard let ticket = waiting[user]?.popFirst() else { return nil }
    waitingCount -= 1
    if waiting[user]?.isEmpty == true { waiting[user] = nil } else { turns.append(user) }
    start(user)
    return ticket
  }

  /// Evicts the newest ticket of the user with the most, if that user keeps at least as many as the new user will have.
  private mutating func makeRoom(for user: User) -> Ticket? {
    func count(_ user: User) -> Int { waiting[user]?.count ?? 0 }
    guard let most = turns.max(by: { count($0) < count($1) }), count(most) > count(user) + 1 else { return nil }
    let evicted = waiting[most]?.popLast()
    waitingCount -= 1
    return evicted
  }

  /// A user whose last ticket was withdrawn stays in `turns` until these users are half of them. So a withdrawal seldom
  /// goes through all users.
  private mutating func forgetIfEmpty(_ user: User) {
    guard waiting[user]?.isEmpty == true else { return }
    withdrawn += 1
    guard withdrawn * 2 > turns.count else { return }
    turns.removeAll { waiting[$0]?.isEmpty == true }
    waiting = waiting.filter { !$0.value.isEmpty }
    withdrawn = 0
  }
}
