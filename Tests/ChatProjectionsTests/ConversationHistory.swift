import ChatDomain
import ChatPrimitives
import EventLogSimulation

@testable import ChatProjections

/// A random conversation with threads, mentions, reactions, edits and pins. It also keeps plain lists of the messages,
/// so that tests can count without the methods of the read models.
struct ConversationHistory {
  struct Message {
    let id: MessageID
    let author: UserID
    let location: MessageLocation
    var mentionsEveryone = false
    var mentioned: Set<UserID> = []
    var isDeleted = false
    var texts: [String]
    /// In the order in which they were added.
    var reactions: [(emoji: String, user: UserID)] = []
    var isPinned = false

    func mentions(_ user: UserID) -> Bool { mentionsEveryone || mentioned.contains(user) }
  }

  struct Follower: Equatable {
    var follows: Bool
    var marker: UInt64
  }

  private(set) var script = EventScript()
  let room: RoomID = .numbered(100)
  let users: [UserID] = (1...7).map { .numbered($0) }
  private(set) var timeline: [Message] = []
  /// The replies of each thread, by the root's ordinal; nil for a reply that was erased.
  private(set) var threads: [UInt64: [Message?]] = [:]
  private(set) var markers: [UserID: UInt64] = [:]
  private(set) var followers: [UInt64: [UserID: Follower]] = [:]
  private var random: SeededRandom
  private var nextNumber: UInt64 = 1000

  init(seed: UInt64, events count: Int) {
    random = SeededRandom(seed: seed)
    for (index, user) in users.enumerated() { script.register(user, "user \(index)") }
    script.create(room, by: users[0])
    markers[users[0]] = 0
    while script.events.count < count { step() }
  }

  // MARK: - Steps

  private mutating func chance(_ oneIn: UInt64) -> Bool { random.next() % oneIn == 0 }
  private mutating func pick<C: Collection>(_ all: C) -> C.Element? { all.randomElement(using: &random) }
  private mutating func newID() -> MessageID {
    nextNumber += 1
    return .numbered(nextNumber)
  }

  private mutating func step() {
    guard let user = pick(users) else { return }
    guard markers[user] != nil else { return join(user) }
    switch random.next() % 24 {
    case 0: if user != users[0], chance(3) { leave(user) }
    case 1...7: send(user)
    case 8...13: sendInThread(user)
    case 14, 15: change { $0.edit($1) }
    case 16, 17: change { $0.delete($1) }
    case 18: moveMarker(user)
    case 19: moveThreadMarker(user)
    case 20: follow(user)
    case 21, 22: change { $0.react(user, to: $1) }
    default: change { $0.pin($1) }
    }
  }

  private mutating func join(_ user: UserID) {
    script.room(room, .members(.joined(user, role: .member, invite: nil)), by: user)
    markers[user] = UInt64(timeline.count)
  }

  private mutating func leave(_ user: UserID) {
    script.room(room, .members(.left(user)), by: user)
    markers[user] = nil
    for root in followers.keys { followers[root]?[user] = nil }
  }

  private mutating func mentions() -> Mentions {
    if chance(8) { return Mentions(users: chance(2) ? [users[1]] : [], everyone: true) }
    return chance(2) ? Mentions() : Mentions(users: users.filter { _ in chance(4) }.sorted())
  }

  private func mentionedMembers(in mentions: Mentions) -> Set<UserID> {
    Set(mentions.users.filter { markers[$0] != nil })
  }

  private mutating func write(
    _ user: UserID, _ mentions: Mentions, at location: MessageLocation
  ) -> (Message, MessageContent) {
    let text = "text \(random.next())"
    let message = Message(
      id: newID(), author: user, location: location, mentionsEveryone: mentions.everyone,
      mentioned: mentionedMembers(in: mentions),
      texts: [text])
    let details = mentions.isEmpty ? nil : MessageDetails(mentions: mentions)
    return (message, MessageContent(text: text, details: details))
  }

  private mutating func send(_ user: UserID) {
    let (message, content) = write(user, mentions(), at: .room(UInt64(timeline.count + 1)))
    script.room(room, .messages(.sent(message.id, author: user, thread: nil, content)), by: user)
    timeline.append(message)
    markers[user] = UInt64(timeline.count)
  }

  private mutating func sendInThread(_ user: UserID) {
    // Uses few roots, so that threads get long.
    guard let root = pick(timeline.prefix(6)), !root.isDeleted || threads[root.location.ordinal] != nil else { return }
    let key = root.location.ordinal
    if chance(20) {
      // A reply whose payload was erased had an ordinal, and is only known by the gap that it leaves.
      script.room(room, .erased(kind: 137), by: user)
      threads[key, default: []].append(nil)
      return
    }
    let ordinal = UInt64(threads[key, default: []].count + 1)
    let mentions = mentions()
    let (message, content) = write(user, mentions, at: MessageLocation(thread: key, ordinal: ordinal))
    let location = ThreadLocation(
      root: ThreadRoot(message: root.id, ordinal: key), rootAuthor: root.author, ordinal: ordinal)
    script.room(room, .messages(.sent(message.id, author: user, thread: location, content)), by: user)
    threads[key, default: []].append(message)
    for follower in [root.author] + message.mentioned where follower != user { begin(follower, key, from: ordinal - 1) }
    begin(user, key, from: ordinal)
    advance(user, key, to: ordinal)
  }

  private mutating func begin(_ user: UserID, _ root: UInt64, from marker: UInt64) {
    guard markers[user] != nil, followers[root]?[user] == nil else { return }
    followers[root, default: [:]][user] = Follower(follows: true, marker: marker)
  }

  private mutating func advance(_ user: UserID, _ root: UInt64, to ordinal: UInt64) {
    guard let marker = followers[root]?[user]?.marker, marker < ordinal else { return }
    followers[root]?[user]?.marker = ordinal
  }

  /// The length of a thread as the read model knows it: a gap at the end becomes known with the next reply.
  func knownLength(_ root: UInt64) -> UInt64 {
    UInt64(threads[root]?.lastIndex { $0 != nil }.map { $0 + 1 } ?? 0)
  }

  // MARK: - Changes to messages

  private mutating func change(_ body: (inout ConversationHistory, Message) -> Void) {
    let all = timeline + threads.keys.sorted().flatMap { threads[$0] ?? [] }.compactMap { $0 }
    guard let message = pick(all.filter { !$0.isDeleted }) else { return }
    body(&self, message)
  }

  private mutating func update(_ message: Message, _ body: (inout Message) -> Void) {
    let index = Int(message.location.ordinal) - 1
    guard message.location.isInThread else { return body(&timeline[index]) }
    guard var changed = threads[message.location.thread]?[index] else { return }
    body(&changed)
    threads[message.location.thread]?[index] = changed
  }

  private mutating func edit(_ message: Message) {
    let (mentions, text) = (mentions(), "edited \(random.next())")
    script.room(
      room, .messages(.edited(message.id, at: message.location, MessageEdit(text: text, mentions: mentions))),
      by: message.author)
    let mentioned = mentionedMembers(in: mentions)
    update(message) {
      $0.texts.append(text)
      $0.mentionsEveryone = mentions.everyone
      $0.mentioned = mentioned
    }
    guard message.location.isInThread else { return }
    for user in mentioned { begin(user, message.location.thread, from: message.location.ordinal - 1) }
  }

  private mutating func delete(_ message: Message) {
    script.room(room, .messages(.deleted(message.id, at: message.location)), by: message.author)
    update(message) {
      $0.isDeleted = true
      $0.reactions = []
      $0.isPinned = false
      $0.texts = []
    }
  }

  private mutating func react(_ user: UserID, to message: Message) {
    let emoji = ["👍", "👎", ":tea:"][Int(random.next() % 3)]
    let isThere = message.reactions.contains { $0 == (emoji, user) }
    if chance(isThere ? 2 : 6) {
      script.room(
        room, .annotations(.reactionRemoved(message.id, at: message.location, by: user, emoji: emoji)), by: user)
      update(message) { $0.reactions.removeAll { $0 == (emoji, user) } }
    } else {
      script.room(
        room, .annotations(.reactionAdded(message.id, at: message.location, by: user, emoji: emoji)), by: user)
      if !isThere { update(message) { $0.reactions.append((emoji, user)) } }
    }
  }

  private mutating func pin(_ message: Message) {
    let pins = !message.isPinned || chance(3)
    script.room(
      room,
      pins
        ? .annotations(.pinned(message.id, at: message.location))
        : .annotations(.unpinned(message.id, at: message.location)),
      by: users[0])
    update(message) { $0.isPinned = pins }
  }

  // MARK: - Reading

  private mutating func moveMarker(_ user: UserID) {
    guard let message = pick(timeline), let marker = markers[user], message.location.ordinal > marker else { return }
    script.room(room, .reading(.markerMoved(user, to: message.id, ordinal: message.location.ordinal)), by: user)
    markers[user] = message.location.ordinal
  }

  private mutating func moveThreadMarker(_ user: UserID) {
    guard let root = pick(threads.keys.sorted()), let message = pick((threads[root] ?? []).compactMap { $0 }) else {
      return
    }
    script.room(room, .threads(.markerMoved(user, to: message.id, at: message.location)), by: user)
    advance(user, root, to: message.location.ordinal)
  }

  private mutating func follow(_ user: UserID) {
    guard let root = pick(timeline.prefix(6)) else { return }
    let (key, follows) = (root.location.ordinal, chance(2))
    script.room(
      room, .threads(.followingSet(user, ThreadRoot(message: root.id, ordinal: key), follows: follows)), by: user)
    let end = knownLength(key)
    var follower = followers[key]?[user] ?? Follower(follows: follows, marker: end)
    if follows, !follower.follows { follower.marker = max(follower.marker, end) }
    follower.follows = follows
    followers[key, default: [:]][user] = follower
  }
}
