import ChatDomain
import ChatPrimitives
import EventStore
import Testing

@testable import ChatService

private let (alice, bob, carol): (UserID, UserID, UserID) = (fixed(1), fixed(2), fixed(3))
private let (tea, cake): (RoomID, RoomID) = (fixed(40), fixed(41))

private func at(_ seconds: Int64, milliseconds: Int64 = 0) -> Timestamp {
  Timestamp(milliseconds: 1_000_000 + seconds * 1000 + milliseconds)
}

private func recorded(_ event: ChatEvent, at position: UInt64) -> RecordedEvent {
  RecordedEvent(
    stamp: Stamp(position: LogPosition(position), time: at(0)), version: StreamVersion(1), actor: alice, service: nil,
    device: nil, command: nil, originalTime: nil, event: event)
}

@Suite("Who types")
struct TypistsSpecs {
  private var typists = Typists()

  private mutating func start(_ user: UserID, _ now: Timestamp) -> TypingNotice? { start(user, tea, now) }

  private mutating func start(_ user: UserID, _ room: RoomID, _ now: Timestamp) -> TypingNotice? {
    typists.start(user, in: room, hiddenFrom: [], at: now)?.notice
  }

  @Test("typing lasts six seconds; what a user repeats within three changes nothing")
  mutating func lasts() {
    #expect(start(alice, at(0)) == TypingNotice(room: tea, user: alice, until: at(6)))
    #expect(start(alice, at(2, milliseconds: 999)) == nil)
    #expect(start(alice, at(3))?.until == at(9))
    #expect(typists.count == 1)
    #expect(typists.stop(alice, in: tea, at: at(9)) == nil, "it is over")
    #expect(start(alice, at(9))?.until == at(15), "the next one is news at once")
    #expect(typists.stop(alice, in: tea, at: at(14))?.notice == TypingNotice(room: tea, user: alice, until: nil))
    #expect(typists.stop(alice, in: tea, at: at(14)) == nil)
    #expect(start(alice, at(14)) != nil && typists.count == 1)
  }

  @Test("who starts and stops in turn is announced only three times within three seconds")
  mutating func alternates() {
    for number in 0..<Int64(Limits.typingStarts) {
      #expect(start(alice, at(0, milliseconds: number)) != nil)
      #expect(typists.stop(alice, in: tea, at: at(0, milliseconds: number)) != nil)
    }
    #expect(start(alice, at(2)) == nil && typists.stop(alice, in: tea, at: at(2)) == nil)
    #expect(start(bob, at(2)) != nil && start(alice, cake, at(2)) != nil)
    #expect(start(alice, at(3)) != nil)
  }

  @Test("a room shows only so many typists; one more is shown after another has stopped or expired")
  mutating func limitOfRoom() {
    let users = (1...UInt64(Limits.typistsShown)).map { fixed($0 + 100) as UserID }
    for user in users.dropLast() { #expect(start(user, at(0)) != nil) }
    #expect(start(users[users.count - 1], at(1)) != nil)
    #expect(start(alice, at(1)) == nil && start(alice, cake, at(1)) != nil)
    #expect(start(users[0], at(3)) != nil, "a repeat is none more")
    _ = typists.stop(users[1], in: tea, at: at(3))
    #expect(start(alice, at(3)) != nil && start(bob, at(3)) == nil)
    #expect(start(bob, at(6)) != nil, "the others are over")
  }

  @Test("a user types in only so many rooms")
  mutating func limitOfUser() {
    for number in 0..<Limits.typingRoomsOfUser { #expect(start(alice, fixed(UInt64(200 + number)), at(0)) != nil) }
    #expect(start(alice, at(0)) == nil && start(bob, at(0)) != nil)
    typists.expire(at: at(6))
    #expect(start(alice, at(6)) != nil && typists.count == 1)
  }

  @Test("who types is forgotten when it is over")
  mutating func expires() {
    #expect(start(alice, at(0)) != nil && start(bob, cake, at(1)) != nil)
    typists.expire(at: at(5))
    #expect(typists.count == 2)
    typists.expire(at: at(6))
    #expect(typists.count == 1)
    typists.expire(at: at(7))
    #expect(typists.count == 0)
  }

  @Test("the end is hidden from those from whom the beginning was, and from those who were blocked meanwhile")
  mutating func hides() {
    _ = typists.start(alice, in: tea, hiddenFrom: [bob], at: at(0))
    typists.separate(carol, alice)
    #expect(typists.stop(alice, in: tea, at: at(1))?.hiddenFrom == [bob, carol])
  }

  @Test("typing ends in all rooms of a user, or of all users in a room")
  mutating func endsEverywhere() {
    for user in [alice, bob] {
      for room in [tea, cake] { #expect(start(user, room, at(0)) != nil) }
    }
    #expect(Set(typists.stop(alice, at: at(1)).map(\.notice.room)) == [tea, cake])
    #expect(typists.close(tea, at: at(1)).map(\.notice) == [TypingNotice(room: tea, user: bob, until: nil)])
    #expect(typists.close(cake, at: at(1)).map(\.notice) == [TypingNotice(room: cake, user: bob, until: nil)])
    typists.expire(at: at(6))
    #expect(typists.count == 0)
  }
}

@Suite("Who is online")
struct PresencesSpecs {
  private var presences = Presences()

  /// What others are told now, as the feed does it.
  private mutating func told(_ now: Timestamp) -> [UserID: Presence] {
    presences.look(at: now)
    var told: [UserID: Presence] = [:]
    for user in presences.takeReady(100) { told[user] = presences.tell(user, at: now) }
    return told
  }

  @Test("others are told that a user is online, away, and offline half a minute after the last stream ended")
  mutating func comesAndGoes() {
    presences.set(alice, .online, at: at(0))
    #expect(told(at(0)) == [alice: .online] && presences.shown(alice) == .online)
    presences.set(alice, .away, at: at(20))
    #expect(told(at(20)) == [alice: .away])
    presences.set(alice, nil, at: at(40))
    #expect(told(at(69, milliseconds: 999)) == [:] && presences.shown(alice) == .away)
    #expect(told(at(70)) == [alice: .offline] && presences.shown(alice) == .offline)
    #expect(told(at(80)) == [:] && presences.count == 0, "nothing is kept")
  }

  @Test("a user who returns in time was never offline")
  mutating func returns() {
    presences.set(alice, .online, at: at(0))
    _ = told(at(0))
    presences.set(alice, nil, at: at(20))
    presences.set(alice, .online, at: at(49))
    #expect(told(at(50)) == [:] && told(at(100)) == [:] && presences.shown(alice) == .online)
  }

  @Test("others are told at most once in ten seconds, and then the newest")
  mutating func throttles() {
    presences.set(alice, .online, at: at(0))
    _ = told(at(0))
    presences.set(alice, .away, at: at(1))
    #expect(told(at(1)) == [:] && told(at(9, milliseconds: 999)) == [:])
    presences.set(alice, .online, at: at(5))
    #expect(told(at(10)) == [:], "it is as it was")
    presences.set(alice, .away, at: at(6))
    #expect(told(at(10)) == [alice: .away])
  }

  @Test("a user who is hidden looks offline at once and to everyone, and shows up again")
  mutating func hides() {
    presences.set(alice, .online, at: at(0))
    _ = told(at(0))
    presences.hide(alice, true, at: at(1))
    #expect(presences.shown(alice) == .offline, "before others are told")
    #expect(told(at(1)) == [alice: .offline])
    presences.set(alice, .away, at: at(20))
    #expect(told(at(30)) == [:] && presences.shown(alice) == .offline)
    presences.hide(alice, false, at: at(40))
    #expect(told(at(40)) == [alice: .away])
  }

  @Test("a hidden user who has left is forgotten; a user without a stream is not remembered")
  mutating func forgets() {
    presences.set(alice, .online, at: at(0))
    presences.hide(alice, true, at: at(0))
    #expect(told(at(0)) == [:])
    presences.set(alice, nil, at: at(1))
    #expect(told(at(31)) == [:] && presences.count == 0)
    presences.set(bob, nil, at: at(31))
    presences.hide(bob, true, at: at(31))
    #expect(presences.count == 0)
  }

  @Test("users of whom others could not be told yet stay ready")
  mutating func putsBack() {
    for user in [alice, bob, carol] { presences.set(user, .online, at: at(0)) }
    #expect(presences.takeReady(2) == [alice, bob])
    presences.putBack([alice])
    #expect(presences.takeReady(5) == [carol, alice] && !presences.hasReady)
  }
}

@Suite("Typing and presence, and events")
struct EphemeraSpecs {
  private var ephemera = Ephemera()

  private mutating func type(_ user: UserID, head: UInt64, isTyping: Bool = true) {
    ephemera.add([
      TypingInput.Key(user: user, room: tea): TypingInput(isTyping: isTyping, head: LogPosition(head))
    ])
  }

  private mutating func begin(_ now: Timestamp = at(0)) -> Bool {
    for key in ephemera.takeInputs(at: now).started {
      _ = ephemera.typists.start(key.user, in: key.room, hiddenFrom: [], at: now)
    }
    return ephemera.typists.count > 0
  }

  private static let endings: [RoomEvent] = [
    .messages(.sent(fixed(50), author: alice, thread: nil, .plain("hello"))), .members(.left(alice)),
    .members(.removed(alice)), .members(.banned(alice)), .members(.silenced(alice, until: at(100))),
    .lifecycle(.archived), .lifecycle(.deleted),
  ]

  @Test("typing ends with a message, with the right to write, and with the room", arguments: endings)
  mutating func ends(event: RoomEvent) {
    type(alice, head: 5)
    #expect(begin())
    ephemera.apply(recorded(.room(cake, event), at: 6), at: at(1))
    #expect(ephemera.takeAnnouncements().isEmpty)
    ephemera.apply(recorded(.room(tea, event), at: 7), at: at(1))
    #expect(ephemera.takeAnnouncements().map(\.notice) == [TypingNotice(room: tea, user: alice, until: nil)])
  }

  @Test("what a user said before a message does not hold after it; what they said later does")
  mutating func order() {
    let sent = RoomEvent.messages(.sent(fixed(50), author: alice, thread: nil, .plain("hello")))
    type(alice, head: 5)
    ephemera.apply(recorded(.room(tea, sent), at: 6), at: at(0))
    #expect(!begin())
    type(alice, head: 6)
    ephemera.apply(recorded(.room(tea, sent), at: 6), at: at(0))
    #expect(begin())
  }

  @Test("of several inputs the last counts, and repeats are dropped")
  mutating func inputs() {
    type(alice, head: 5)
    type(alice, head: 5, isTyping: false)
    let taken = ephemera.takeInputs(at: at(0))
    #expect(taken.started.isEmpty && taken.stopped.count == 1 && ephemera.inputs.isEmpty)
    type(alice, head: 5)
    #expect(begin())
    type(alice, head: 5)
    #expect(ephemera.takeInputs(at: at(1)).started.isEmpty && ephemera.inputs.isEmpty)
  }

  @Test("only so many users begin to type in one cycle; the others follow")
  mutating func cycle() {
    for number in 0...UInt64(Limits.typingPerCycle) {
      ephemera.add([
        TypingInput.Key(user: fixed(100 + number), room: fixed(1000 + number)): TypingInput(
          isTyping: true, head: .origin)
      ])
    }
    #expect(ephemera.takeInputs(at: at(0)).started.count == Limits.typingPerCycle)
    #expect(ephemera.takeInputs(at: at(0)).started.count == 1)
  }

  @Test("a user who hides the presence, or whose account is disabled, does not type any more")
  mutating func hides() {
    for event in [
      UserEvent.account(.preferencesSet(PreferencesEdit(sharesPresence: false))), .account(.disabled),
    ] {
      ephemera = Ephemera()
      type(alice, head: 5)
      #expect(begin())
      ephemera.apply(recorded(.user(bob, event), at: 6), at: at(1))
      #expect(ephemera.takeAnnouncements().isEmpty)
      ephemera.apply(recorded(.user(alice, event), at: 7), at: at(1))
      #expect(ephemera.takeAnnouncements().count == 1)
    }
  }

  @Test("a user who was shown online is hidden from a user whom they block")
  mutating func blocks() {
    ephemera.presences.set(alice, .online, at: at(0))
    #expect(ephemera.presences.tell(alice, at: at(0)) == .online)
    for blocker in [alice, bob] {
      ephemera.apply(recorded(.user(blocker, .blocks(.blocked(carol))), at: 6), at: at(1))
    }
    #expect(ephemera.takeSeparations() == [Separation(blocker: alice, blocked: carol)])
  }

  @Test("users who have or had a stream meet those in a room that they join, and those whom they unblock")
  mutating func meetings() {
    ephemera.presences.set(alice, .online, at: at(0))
    for user in [alice, bob] {
      ephemera.apply(recorded(.room(tea, .members(.added(user, role: .member))), at: 6), at: at(1))
      ephemera.apply(recorded(.room(cake, .members(.joined(user, role: .member, invite: nil))), at: 7), at: at(1))
      ephemera.apply(recorded(.user(user, .blocks(.unblocked(carol))), at: 8), at: at(1))
    }
    let meetings = [alice: Meeting(rooms: [tea, cake], unblocked: [carol])]
    let taken = ephemera.takeMeetings(1)
    #expect(taken == meetings && ephemera.meetings.isEmpty)
    ephemera.apply(recorded(.user(alice, .blocks(.unblocked(bob))), at: 9), at: at(1))
    ephemera.putBack(taken)
    #expect(ephemera.takeMeetings(1) == [alice: Meeting(rooms: [tea, cake], unblocked: [bob, carol])])
  }

  @Test("a user without a stream is in the rooms for as long as others see the user online")
  mutating func absent() {
    ephemera.leave(bob, [tea])
    ephemera.presences.set(alice, .online, at: at(0))
    _ = ephemera.presences.tell(alice, at: at(0))
    ephemera.leave(alice, [tea])
    #expect(ephemera.absent.allUsers.isEmpty, "there is another stream")
    ephemera.presences.set(alice, nil, at: at(1))
    ephemera.leave(alice, [tea])
    ephemera.apply(recorded(.room(cake, .members(.added(alice, role: .member))), at: 6), at: at(1))
    #expect(ephemera.absent.spaces(of: alice) == [tea, cake])
    ephemera.apply(recorded(.room(tea, .members(.removed(alice))), at: 7), at: at(1))
    #expect(ephemera.absent.spaces(of: alice) == [cake])
    ephemera.look(at: at(1 + Limits.presenceGraceSeconds))
    #expect(ephemera.absent[cake] == [alice], "others were not told yet")
    #expect(ephemera.presences.tell(alice, at: at(1 + Limits.presenceGraceSeconds)) == .offline)
    ephemera.look(at: at(1 + Limits.presenceGraceSeconds + Limits.presenceIntervalSeconds))
    #expect(ephemera.absent.allUsers.isEmpty)
  }

  @Test("a user of whom others were not told before the last stream ended is in the rooms too, even if hidden then")
  mutating func absentUnseen() {
    for isHidden in [false, true] {
      ephemera = Ephemera()
      ephemera.presences.set(alice, .online, at: at(0))
      ephemera.presences.hide(alice, isHidden, at: at(0))
      ephemera.presences.set(alice, nil, at: at(1))
      ephemera.leave(alice, [tea])
      ephemera.look(at: at(1))
      #expect(ephemera.absent[tea] == [alice])
      ephemera.presences.hide(alice, false, at: at(2))
      #expect(ephemera.presences.tell(alice, at: at(2)) == .online)
      ephemera.look(at: at(3))
      #expect(ephemera.absent[tea] == [alice])
    }
  }

  @Test("a user who returns or whose room is deleted is not absent")
  mutating func present() {
    for returns in [true, false] {
      ephemera = Ephemera()
      ephemera.presences.set(alice, .online, at: at(0))
      _ = ephemera.presences.tell(alice, at: at(0))
      ephemera.presences.set(alice, nil, at: at(1))
      ephemera.leave(alice, [tea])
      #expect(ephemera.absent[tea] == [alice])
      if returns {
        ephemera.presences.set(alice, .online, at: at(2))
      } else {
        ephemera.apply(recorded(.room(tea, .lifecycle(.deleted)), at: 6), at: at(2))
      }
      ephemera.look(at: at(2))
      #expect(ephemera.absent.allUsers.isEmpty)
    }
  }
}

@Suite("Notices that wait")
struct PendingNoticesSpecs {
  private var pending = PendingNotices()

  @Test("of each user and room only the newest notice waits")
  mutating func newest() {
    let notices: [LiveNotice] = [
      .typing(TypingNotice(room: tea, user: alice, until: at(6))),
      .presence(PresenceNotice(user: alice, presence: .away)),
      .typing(TypingNotice(room: cake, user: alice, until: at(6))),
      .typing(TypingNotice(room: tea, user: bob, until: nil)),
    ]
    for notice in notices { pending.add(notice) }
    let newer: [LiveNotice] = [
      .presence(PresenceNotice(user: alice, presence: .online)),
      .typing(TypingNotice(room: tea, user: alice, until: nil)),
    ]
    for notice in newer { pending.add(notice) }
    #expect(pending.takeAll() == [newer[1], newer[0], notices[2], notices[3]])
    #expect(pending.isEmpty && pending.takeAll().isEmpty)
  }

  @Test("only so many notices wait; one that replaces another always does", arguments: [-1, 0, 1])
  mutating func limit(more: Int) {
    let count = Limits.pendingNotices + more
    for number in 0..<count { pending.add(.presence(PresenceNotice(user: fixed(UInt64(number)), presence: .away))) }
    pending.add(.presence(PresenceNotice(user: fixed(0), presence: .online)))
    let taken = pending.takeAll()
    #expect(taken.count == min(count, Limits.pendingNotices))
    #expect(taken.first == .presence(PresenceNotice(user: fixed(0), presence: .online)))
  }
}
