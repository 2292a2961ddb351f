import ChatDomain
import ChatPrimitives
import ChatProjections
import EventStore
import Testing

@testable import ChatService

/// The writer's recent writes, which override what the ID index returned.
@Suite("Recent writes")
struct RecentWritesTests {
  private let alice: UserID = fixed(1)
  private let room: RoomID = fixed(10)

  private func stamp(_ position: UInt64) -> Stamp {
    Stamp(position: LogPosition(position), time: Timestamp(milliseconds: Int64(position)))
  }

  private func key(_ number: UInt64) -> MessageKey { MessageKey(room: room, message: fixed(number)) }

  private func message(sentAt position: UInt64) -> KnownMessage {
    KnownMessage(
      author: alice, location: .room(position), sent: stamp(position), sentAt: stamp(position).time,
      revision: LogPosition(position), isDeleted: false, fingerprint: nil)
  }

  // MARK: Recent writes alone

  @Test("forget drops what the index has applied, oldest first, except for what is retained")
  func forgets() {
    var recent = RecentWrites(floor: LogPosition(10), retained: 2)
    for position: UInt64 in 11...15 { recent.enter(message(sentAt: position), for: key(position)) }
    recent.forget(through: LogPosition(12))
    #expect(recent.floor == LogPosition(12))
    #expect((11...15).map { recent.message(key($0), found: nil) != nil } == [false, false, true, true, true])
    recent.forget(through: LogPosition(15))
    #expect(recent.floor == LogPosition(13))
    #expect((13...15).map { recent.message(key($0), found: nil) != nil } == [false, true, true])
  }

  @Test("a message that was written again since is forgotten only with its last revision")
  func keepsRevised() {
    var recent = RecentWrites(floor: .origin, retained: 0)
    recent.enter(message(sentAt: 1), for: key(1))
    recent.enter(MessageRevision(stamp: stamp(2), deletes: true), for: key(1))
    recent.forget(through: LogPosition(1))
    #expect(recent.message(key(1), found: message(sentAt: 1))?.isDeleted == true)
    recent.forget(through: LogPosition(2))
    #expect(recent.message(key(1), found: nil) == nil)
  }

  @Test("a revision that the index does not know yet replaces the index's result, an older one does not")
  func overlays() {
    var recent = RecentWrites(floor: LogPosition(5), retained: 0)
    recent.enter(MessageRevision(stamp: stamp(8), deletes: false), for: key(3))
    var found = message(sentAt: 3)
    var expected = found
    expected.revision = LogPosition(8)
    expected.revisedAt = stamp(8).time
    #expect(recent.message(key(3), found: found) == expected)
    found.revision = LogPosition(9)
    found.isDeleted = true
    #expect(recent.message(key(3), found: found) == found)
    recent.enter(MessageRevision(stamp: stamp(10), deletes: true), for: key(3))
    #expect(recent.message(key(3), found: message(sentAt: 3))?.isDeleted == true)
    #expect(recent.message(key(4), found: nil) == nil)
  }

  @Test("the replies to a root are counted, whether it is remembered, revised since, or known to the index alone")
  func countsReplies() {
    var recent = RecentWrites(floor: .origin, retained: 0)
    // Only the index knows this root message.
    recent.enter(replyTo: key(1), ordinal: 4, at: LogPosition(11))
    #expect(recent.message(key(1), found: message(sentAt: 1))?.replies == 4)
    var newer = message(sentAt: 1)
    newer.replies = 7
    #expect(recent.message(key(1), found: newer)?.replies == 7)
    #expect(recent.message(key(1), found: nil) == nil)
    recent.forget(through: LogPosition(11))
    #expect(recent.message(key(1), found: message(sentAt: 1))?.replies == 0)

    // This root message is kept because of an edit that came after the reply.
    recent.enter(message(sentAt: 20), for: key(20))
    recent.enter(replyTo: key(20), ordinal: 1, at: LogPosition(21))
    recent.enter(MessageRevision(stamp: stamp(22), deletes: false), for: key(20))
    recent.forget(through: LogPosition(21))
    #expect(recent.message(key(20), found: nil)?.replies == 1)
  }

  @Test("replies in a row get ordinals in a row, before the index knows of any")
  func numbersReplies() {
    let knownIDs = KnownIDs(KnownIDFilter(), newest: .origin)
    var (state, index, head) = openedRoom(knownIDs, retained: 0)
    state.forget(through: LogPosition(head))
    var next = head + 1
    for number in 1...5 as ClosedRange<UInt64> {
      let command = RoomCommand.messages(.send(fixed(200 + number), NewMessage(text: "reply", thread: fixed(100))))
      guard case .done(let outcome) = reply(&state, command, index, asOf: LogPosition(head), next: &next),
        case .room(_, .messages(.sent(_, _, let thread?, _))) = outcome.events.first?.event
      else {
        Issue.record("reply \(number) was not taken")
        return
      }
      #expect(thread.ordinal == number && thread.root.ordinal == 1 && thread.rootAuthor == alice)
    }
  }

  @Test("a key refers to the first event of its command, until it is forgotten")
  func commands() {
    var recent = RecentWrites(floor: .origin, retained: 0)
    let key = CommandKey(actor: alice.uuid, command: fixed(20))
    recent.enter(KnownCommand(stamp: stamp(1), fingerprint: nil), for: key)
    recent.enter(KnownCommand(stamp: stamp(2), fingerprint: nil), for: key)
    #expect(recent.command(key)?.stamp == stamp(1))
    recent.forget(through: LogPosition(1))
    #expect(recent.command(key) == nil)
  }

  @Test("a scheduled message is known before the index knows it")
  func scheduled() {
    var recent = RecentWrites(floor: .origin, retained: 0)
    let scheduled = KnownScheduledMessage(author: alice, scheduled: stamp(1), fingerprint: nil)
    recent.enter(scheduled, for: key(1))
    #expect(recent.scheduled(key(1), found: nil) == scheduled)
    #expect(recent.scheduled(key(2), found: nil) == nil)
    recent.forget(through: LogPosition(1))
    #expect(recent.scheduled(key(1), found: nil) == nil)
    #expect(recent.scheduled(key(1), found: scheduled) == scheduled)
  }

  @Test("what a command did not ask for is not known to it, except the content of its files")
  func onlyWhatIsAsked() {
    var recent = RecentWrites(floor: .origin, retained: 0)
    recent.enter(message(sentAt: 1), for: key(1))
    var found = Known()
    found.messages = [key(2): message(sentAt: 2), key(3): message(sentAt: 3)]
    found.scheduled[key(2)] = KnownScheduledMessage(author: alice, scheduled: stamp(2), fingerprint: nil)
    found.commands[CommandKey(actor: alice.uuid, command: fixed(20))] = KnownCommand(stamp: stamp(3), fingerprint: nil)
    found.endings[.room(room)] = .deletion(stamp(4), creationFingerprint: nil)
    found.media[fixed(30)] = Media(hash: [1], contentType: "image/png", size: 3)
    var lookup = Lookup()
    lookup.messages = [key(1), key(2), key(4)]
    var expected = Known()
    expected.messages = [key(1): message(sentAt: 1), key(2): message(sentAt: 2)]
    expected.media = found.media
    #expect(recent.newest(found, by: lookup) == expected)
  }

  @Test("counts of reactions replace the index's until the index has applied their last change")
  func reactions() {
    var recent = RecentWrites(floor: .origin, retained: 0)
    let own = ReactionKey(message: key(1), user: alice, emoji: "a")
    let other = ReactionKey(message: key(1), user: fixed(2), emoji: "b")
    let found = ReactionCounts(kinds: 3, users: 1, ownKinds: 1, isOwn: false)
    let first = recent.reactions(own, found: found).adding
    recent.enter(first, for: own, at: LogPosition(11))
    #expect(recent.reactions(own, found: found) == first)
    // Another user's reaction of another kind. Only the message is the same, so only its number of kinds is shared.
    let second = recent.reactions(other, found: .none).adding
    #expect(second == ReactionCounts(kinds: 4, users: 1, ownKinds: 1, isOwn: true))
    recent.enter(second, for: other, at: LogPosition(12))
    recent.forget(through: LogPosition(11))
    #expect(
      recent.reactions(own, found: found) == ReactionCounts(kinds: 4, users: 1, ownKinds: 1, isOwn: false))
    recent.forget(through: LogPosition(12))
    #expect(recent.reactions(own, found: found) == found)
  }

  // MARK: As a part of the writer's state

  /// A room with one message by Alice, which only the ID index knows from then on.
  private func openedRoom(
    _ knownIDs: KnownIDs, retained: Int
  ) -> (state: DecisionState, index: KnownMessage, head: UInt64) {
    var state = DecisionState(knownIDs: knownIDs, floor: .origin, retained: retained)
    let text = "hello"
    let events: [ChatEvent] = [
      .user(
        alice,
        .account(
          .registered(
            Registration(nickname: "Alice", email: nil, externalID: "crm-1", credential: nil, commitmentKey: [])))),
      .room(room, .lifecycle(.created(RoomCreation(kind: .group, name: "tea", creator: alice)))),
      .room(room, .members(.joined(alice, role: .owner, invite: nil))),
      .room(room, .messages(.sent(fixed(100), author: alice, thread: nil, .plain(text)))),
    ]
    for (index, event) in events.enumerated() {
      state.take(
        RecordedEvent(
          stamp: stamp(UInt64(index) + 1), version: StreamVersion(UInt64(index) + 1), actor: alice, service: nil,
          device: nil, command: nil, originalTime: nil, event: event))
    }
    let index = KnownMessage(
      author: alice, location: .room(1), sent: stamp(4), sentAt: stamp(4).time, revision: LogPosition(4),
      isDeleted: false, fingerprint: .message(.plain(text), author: alice))
    return (state, index, 4)
  }

  /// - Parameter index: The index's result for Alice's message.
  private func reply(
    _ state: inout DecisionState, _ command: RoomCommand, _ index: KnownMessage? = nil, asOf: LogPosition,
    next: inout UInt64
  ) -> ChatReply {
    var known = Known()
    known.messages[key(100)] = index
    let request = ChatCommand(
      context: CommandContext(actor: alice, time: stamp(0).time), operation: .room(room, command), known: known,
      knownAsOf: asOf)
    let decision = state.decide(request, next: LogPosition(next), now: stamp(next).time)
    next += UInt64(decision.events.count)
    return decision.reply
  }

  private func send(_ number: UInt64) -> RoomCommand {
    .messages(.send(fixed(number), .plain("new")))
  }

  @Test("a new message is accepted after more edits than are retained, though none of them brought a new ID")
  func manyEdits() throws {
    let knownIDs = KnownIDs(KnownIDFilter(), newest: .origin)
    var (state, index, head) = openedRoom(knownIDs, retained: 8)
    var next = head + 1
    state.forget(through: LogPosition(head))
    for number in 0..<20 {
      let edit = RoomCommand.messages(.edit(fixed(100), .plain("edit \(number)")))
      guard case .done = reply(&state, edit, index, asOf: .latest, next: &next) else {
        Issue.record("edit \(number) was not taken")
        return
      }
    }
    state.forget(through: LogPosition(next - 1))
    // Eight of the twenty edits are retained. Anything that was looked up before them is outdated.
    var lookup = Lookup()
    lookup.messages = [key(101)]
    let asOf = try #require(knownIDs.neverSeen(lookup))
    #expect(asOf == LogPosition(next - 1))
    lookup.messages.append(key(100))
    #expect(knownIDs.neverSeen(lookup) == nil)
    guard case .outdated = reply(&state, send(101), asOf: LogPosition(head), next: &next) else {
      Issue.record("what was looked up before the floor was trusted")
      return
    }
    guard case .done(let outcome) = reply(&state, send(101), asOf: asOf, next: &next) else {
      Issue.record("the new message was not taken")
      return
    }
    #expect(outcome.isNew)
  }

  @Test("a message that only the index knows is deleted once, and stays deleted in an older result")
  func deletesOnce() {
    var (state, index, head) = openedRoom(KnownIDs(KnownIDFilter(), newest: .origin), retained: 0)
    state.forget(through: LogPosition(head))
    var next = head + 1
    let asOf = LogPosition(head)
    guard case .done(let first) = reply(&state, .messages(.delete(fixed(100))), index, asOf: asOf, next: &next),
      case .done(let again) = reply(&state, .messages(.delete(fixed(100))), index, asOf: asOf, next: &next),
      case .rejected(let rejection) = reply(
        &state, .messages(.edit(fixed(100), .plain("back"))), index, asOf: asOf, next: &next)
    else {
      Issue.record("another reply than expected")
      return
    }
    #expect(first.isNew && !again.isNew)
    #expect(again.stamp == first.stamp)
    #expect(rejection == .messageDeleted)
    // The index's result shows that the same message was already sent.
    let repeated = RoomCommand.messages(.send(fixed(100), .plain("hello")))
    guard case .done(let sent) = reply(&state, repeated, index, asOf: asOf, next: &next) else {
      Issue.record("the repeated message was not recognised")
      return
    }
    #expect(sent.stamp == index.sent && !sent.isNew)
  }
}

/// Lookups of a single key.
extension RecentWrites {
  fileprivate func message(_ key: MessageKey, found: KnownMessage?) -> KnownMessage? {
    var (lookup, known) = (Lookup(), Known())
    lookup.messages = [key]
    known.messages[key] = found
    return newest(known, by: lookup).messages[key]
  }

  fileprivate func command(_ key: CommandKey, found: KnownCommand? = nil) -> KnownCommand? {
    var (lookup, known) = (Lookup(), Known())
    lookup.command = key
    known.commands[key] = found
    return newest(known, by: lookup).commands[key]
  }

  fileprivate func reactions(_ key: ReactionKey, found: ReactionCounts) -> ReactionCounts {
    var (lookup, known) = (Lookup(), Known())
    lookup.reaction = key
    known.reactions[key] = found
    return newest(known, by: lookup).reactions[key, default: ReactionCounts.none]
  }

  fileprivate func scheduled(_ key: MessageKey, found: KnownScheduledMessage?) -> KnownScheduledMessage? {
    var (lookup, known) = (Lookup(), Known())
    lookup.scheduled = [key]
    known.scheduled[key] = found
    return newest(known, by: lookup).scheduled[key]
  }
}
