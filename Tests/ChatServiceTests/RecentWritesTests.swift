import ChatDomain
import ChatPrimitives
import ChatProjections
import EventStore
import Testing

@testable import ChatService

/// What the writer remembers, laid over what the ID index answered.
@Suite("Recent writes")
struct RecentWritesTests {
  private let alice: UserID = fixed(1)
  private let room: RoomID = fixed(10)

  private func stamp(_ position: UInt64) -> Stamp {
    Stamp(position: LogPosition(position), time: Timestamp(milliseconds: Int64(position)))
  }

  private func key(_ number: UInt64) -> MessageKey { MessageKey(room: room, message: fixed(number)) }

  private func facts(sentAt position: UInt64) -> KnownMessage {
    KnownMessage(
      author: alice, place: .room(position), sent: stamp(position), sentAt: stamp(position).time,
      revision: LogPosition(position), isDeleted: false, fingerprint: nil)
  }

  // MARK: Alone

  @Test("forget lets go, oldest first, of what the index has applied, save for what is retained")
  func forgets() {
    var recent = RecentWrites(floor: LogPosition(10), retained: 2)
    for position: UInt64 in 11...15 { recent.enter(facts(sentAt: position), for: key(position)) }
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
    recent.enter(facts(sentAt: 1), for: key(1))
    recent.enter(MessageRevision(stamp: stamp(2), deletes: true), for: key(1))
    recent.forget(through: LogPosition(1))
    #expect(recent.message(key(1), found: facts(sentAt: 1))?.isDeleted == true)
    recent.forget(through: LogPosition(2))
    #expect(recent.message(key(1), found: nil) == nil)
  }

  @Test("a revision that the index does not know yet is laid over its answer, an older one is not")
  func overlays() {
    var recent = RecentWrites(floor: LogPosition(5), retained: 0)
    recent.enter(MessageRevision(stamp: stamp(8), deletes: false), for: key(3))
    var found = facts(sentAt: 3)
    var expected = found
    expected.revision = LogPosition(8)
    expected.revisedAt = stamp(8).time
    #expect(recent.message(key(3), found: found) == expected)
    found.revision = LogPosition(9)
    found.isDeleted = true
    #expect(recent.message(key(3), found: found) == found)
    recent.enter(MessageRevision(stamp: stamp(10), deletes: true), for: key(3))
    #expect(recent.message(key(3), found: facts(sentAt: 3))?.isDeleted == true)
    #expect(recent.message(key(4), found: nil) == nil)
  }

  @Test("the replies to a root are counted, whether it is remembered, revised since, or known to the index alone")
  func countsReplies() {
    var recent = RecentWrites(floor: .origin, retained: 0)
    // The index alone knows this root.
    recent.enter(replyTo: key(1), ordinal: 4, at: LogPosition(11))
    #expect(recent.message(key(1), found: facts(sentAt: 1))?.replies == 4)
    var newer = facts(sentAt: 1)
    newer.replies = 7
    #expect(recent.message(key(1), found: newer)?.replies == 7)
    #expect(recent.message(key(1), found: nil) == nil)
    recent.forget(through: LogPosition(11))
    #expect(recent.message(key(1), found: facts(sentAt: 1))?.replies == 0)

    // This one is remembered for an edit that came after the reply.
    recent.enter(facts(sentAt: 20), for: key(20))
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
      let command = RoomCommand.sendMessage(
        fixed(200 + number), .plain("reply"),
        fingerprint: .message(.plain("reply"), author: alice, thread: fixed(100)), prior: nil,
        references: MessageReferences(thread: fixed(100), root: index))
      guard case .done(let outcome) = reply(&state, command, asOf: LogPosition(head), next: &next),
        case .room(_, .messages(.sent(_, _, let thread?, _))) = outcome.events.first?.event
      else {
        Issue.record("reply \(number) was not taken")
        return
      }
      #expect(thread.ordinal == number && thread.root.ordinal == 1 && thread.rootAuthor == alice)
    }
  }

  @Test("a key stands for the first of its command's facts, until it is forgotten")
  func commands() {
    var recent = RecentWrites(floor: .origin, retained: 0)
    let key = CommandKey(actor: alice.uuid, command: fixed(20))
    recent.enter(KnownCommand(stamp: stamp(1), fingerprint: nil), for: key)
    recent.enter(KnownCommand(stamp: stamp(2), fingerprint: nil), for: key)
    #expect(recent.command(key)?.stamp == stamp(1))
    recent.forget(through: LogPosition(1))
    #expect(recent.command(key) == nil)
  }

  @Test("counts of reactions stand in the place of the index's until that has applied their last change")
  func reactions() {
    var recent = RecentWrites(floor: .origin, retained: 0)
    let own = ReactionKey(message: key(1), user: alice, emoji: "a")
    let other = ReactionKey(message: key(1), user: fixed(2), emoji: "b")
    let found = ReactionCounts(kinds: 3, users: 1, ownKinds: 1, isOwn: false)
    let first = recent.reactions(own, found: found).adding
    recent.enter(first, for: own, at: LogPosition(11))
    #expect(recent.reactions(own, found: found) == first)
    // Another user's reaction of another kind: of what is counted, the message alone is the same.
    let second = recent.reactions(other, found: .none).adding
    #expect(second == ReactionCounts(kinds: 4, users: 1, ownKinds: 1, isOwn: true))
    recent.enter(second, for: other, at: LogPosition(12))
    recent.forget(through: LogPosition(11))
    #expect(
      recent.reactions(own, found: found) == ReactionCounts(kinds: 4, users: 1, ownKinds: 1, isOwn: false))
    recent.forget(through: LogPosition(12))
    #expect(recent.reactions(own, found: found) == found)
  }

  // MARK: Within the writer's state

  /// A room with one message of alice's, which the ID index alone knows from here on.
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
      author: alice, place: .room(1), sent: stamp(4), sentAt: stamp(4).time, revision: LogPosition(4), isDeleted: false,
      fingerprint: .message(.plain(text), author: alice))
    return (state, index, 4)
  }

  private func reply(
    _ state: inout DecisionState, _ command: RoomCommand, asOf: LogPosition, next: inout UInt64
  ) -> ChatReply {
    let request = ChatCommand(
      context: CommandContext(actor: alice, time: stamp(0).time), operation: .room(room, command), factsAsOf: asOf)
    let decision = state.decide(request, next: LogPosition(next), now: stamp(next).time)
    next += UInt64(decision.events.count)
    return decision.reply
  }

  private func send(_ number: UInt64) -> RoomCommand {
    .sendMessage(fixed(number), .plain("new"), fingerprint: .message(.plain("new"), author: alice), prior: nil)
  }

  @Test("a new message is accepted after more edits than are retained, though none of them brought a new ID")
  func manyEdits() {
    let knownIDs = KnownIDs(KnownIDFilter(), newest: .origin)
    var (state, index, head) = openedRoom(knownIDs, retained: 8)
    var next = head + 1
    state.forget(through: LogPosition(head))
    for number in 0..<20 {
      let edit = RoomCommand.editMessage(fixed(100), .plain("edit \(number)"), target: index)
      guard case .done = reply(&state, edit, asOf: .latest, next: &next) else {
        Issue.record("edit \(number) was not taken")
        return
      }
    }
    state.forget(through: LogPosition(next - 1))
    // Twenty edits less the eight that are retained: what was looked up before that is too old.
    let (mayBeKnown, asOf) = knownIDs.mayContain(messages: [key(101)], command: nil)
    #expect(!mayBeKnown)
    #expect(asOf == LogPosition(next - 1))
    guard case .staleFacts = reply(&state, send(101), asOf: LogPosition(head), next: &next) else {
      Issue.record("facts from before the floor were trusted")
      return
    }
    guard case .done(let outcome) = reply(&state, send(101), asOf: asOf, next: &next) else {
      Issue.record("the new message was not taken")
      return
    }
    #expect(outcome.isNew)
  }

  @Test("a message that the index alone knows is deleted once, and stays deleted for an answer from before")
  func deletesOnce() {
    var (state, index, head) = openedRoom(KnownIDs(KnownIDFilter(), newest: .origin), retained: 0)
    state.forget(through: LogPosition(head))
    var next = head + 1
    let asOf = LogPosition(head)
    guard case .done(let first) = reply(&state, .deleteMessage(fixed(100), target: index), asOf: asOf, next: &next),
      case .done(let again) = reply(&state, .deleteMessage(fixed(100), target: index), asOf: asOf, next: &next),
      case .rejected(let rejection) = reply(
        &state, .editMessage(fixed(100), .plain("back"), target: index), asOf: asOf, next: &next)
    else {
      Issue.record("another reply than expected")
      return
    }
    #expect(first.isNew && !again.isNew)
    #expect(again.stamp == first.stamp)
    #expect(rejection == .messageDeleted)
    // The same message sent again is known by the index's answer.
    let repeated = RoomCommand.sendMessage(
      fixed(100), .plain("hello"), fingerprint: .message(.plain("hello"), author: alice), prior: index)
    guard case .done(let sent) = reply(&state, repeated, asOf: asOf, next: &next) else {
      Issue.record("the repeated message was not recognised")
      return
    }
    #expect(sent.stamp == index.sent && !sent.isNew)
  }
}
