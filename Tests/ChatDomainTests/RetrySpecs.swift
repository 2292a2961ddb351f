import ChatDomain
import ChatPrimitives
import Testing

/// A command, what happens after it, and how its retry looks by then.
struct Retry<D: Decider>: Sendable, CustomTestStringConvertible {
  var first: D.Command
  /// The same request, with what is known of its message by then.
  var again: D.Command
  var act: Act
  /// Facts that a retry must neither undo nor stumble over.
  var later: [D.Event]
  /// Facts that take the right away, and how the retry is refused then; empty where the right cannot be lost.
  var loss: [D.Event] = []
  var refusal: Rejection?

  var testDescription: String { "\(first)" }
}

extension CommandID {
  static var retried: CommandID { id(70) }
}

@Suite("Every retry is safe for ever")
struct RetrySpecs {
  private static let newcomer: UserID = id(60)
  private static let bobAct = Act.user(bob, key: .retried)
  private static let aliceAct = Act.user(alice, session: login, key: .retried)

  // MARK: Rooms

  /// Position 6 is an invite, 7 a message of bob's, 8 one of dave's; the command's fact is the ninth.
  private static let room: [RoomEvent] =
    teaRoom + [
      .inviteCreated(.giving(uses: 1)), .messageSent(hello, author: bob, thread: nil, .plain("hello")),
      .messageSent(id(41), author: dave, thread: nil, .plain("hello")),
    ]

  private static func byBob(
    _ command: RoomCommand, again: RoomCommand? = nil, then later: [RoomEvent]
  )
    -> Retry<RoomDecider>
  {
    Retry(
      first: command, again: again ?? command, act: bobAct, later: later, loss: [.memberRemoved(bob)],
      refusal: .roomNotFound)
  }

  static let ofRoom: [Retry<RoomDecider>] = [
    byBob(.edit(RoomEdit(name: "coffee")), then: [.edited(RoomEdit(name: "water")), .archived]),
    byBob(.archive, then: []),
    byBob(.createInvite(.giving(id: id(31))), then: [.inviteRevoked(id(31)), .archived]),
    byBob(.revokeInvite(link), then: [.archived]),
    byBob(.addMember(newcomer), then: [.memberRemoved(newcomer)]),
    byBob(.removeMember(dave), then: [.memberJoined(dave, role: .administrator, invite: nil)]),
    byBob(.mute(until: noon), then: [.muted(bob, until: nil)]),
    byBob(
      .send(id: id(42), by: bob), again: .send(id: id(42), by: bob, prior: .of(bob, ordinal: 3, at: 9)),
      then: [.messageEdited(id(42), at: .room(3), .plain("hi")), .messageDeleted(id(42), at: .room(3)), .archived]),
    byBob(
      .editMessage(hello, .plain("hi"), target: .of(bob, at: 7)),
      again: .editMessage(hello, .plain("hi"), target: .of(bob, at: 7, deletedAt: 11)),
      then: [.messageEdited(hello, at: .room(1), .plain("ho")), .messageDeleted(hello, at: .room(1)), .archived]),
    byBob(
      .deleteMessage(id(41), target: .of(dave, ordinal: 2, at: 8)),
      again: .deleteMessage(id(41), target: .of(dave, ordinal: 2, at: 8, deletedAt: 9)), then: [.archived]),
    byBob(
      .moveReadMarker(id(41), target: .of(dave, ordinal: 2, at: 8)),
      then: [
        .messageSent(id(43), author: dave, thread: nil, .plain("and")), .readMarkerMoved(bob, to: id(43), ordinal: 3),
        .messageDeleted(id(41), at: .room(2)),
      ]),
    Retry(
      first: .leave, again: .leave, act: bobAct, later: [.memberAdded(bob, role: .member)]),
    Retry(
      first: .acceptInvite(link), again: .acceptInvite(link), act: .user(newcomer, key: .retried),
      later: [.memberLeft(newcomer), .inviteRevoked(link), .archived]),
    Retry(
      first: .join, again: .join, act: .service(for: newcomer, key: .retried),
      later: [.memberLeft(newcomer), .archived]),
    // A member who comes in again and then leaves is not brought back by the retry.
    byBob(.addMember(carol), then: [.memberLeft(carol)]),
    Retry(
      first: .acceptInvite(link), again: .acceptInvite(link), act: .user(carol, key: .retried),
      later: [.memberLeft(carol)]),
    Retry(
      first: .join, again: .join, act: .service(for: carol, key: .retried), later: [.memberLeft(carol)]),
  ]

  @Test("in a room", arguments: ofRoom)
  func room(retry: Retry<RoomDecider>) throws { try check(retry, after: Self.room) }

  @Test("a room is created once, whoever is in it by then")
  func creation() throws {
    let command = RoomCommand.create(.named())
    try check(
      Retry<RoomDecider>(
        first: command, again: command, act: .user(alice),
        later: [.edited(RoomEdit(name: "coffee")), .memberLeft(alice), .archived]), after: [])
  }

  // MARK: Users

  private static func byAlice(_ action: UserAction, then later: [UserEvent]) -> Retry<UserDecider> {
    let command = UserCommand(alice, action)
    return Retry(
      first: command, again: command, act: aliceAct, later: later, loss: [.sessionEnded(login, .loggedOut)],
      refusal: .sessionEnded)
  }

  private static let token = PushToken(provider: .apns, token: "a1b2")

  static let ofUser: [Retry<UserDecider>] = [
    byAlice(.changeProfile(nickname: "Al"), then: [.profileChanged(Profile(nickname: "Ali"))]),
    byAlice(.setDevice(tablet, .named("tablet")), then: [.deviceUpdated(tablet, .named("mine"))]),
    byAlice(.setDevice(tablet, .named("tablet")), then: [.deviceRemoved(tablet)]),
    byAlice(.setDevice(phone, .named("phone")), then: [.deviceUpdated(phone, .named("mine"))]),
    byAlice(.endSession(otherLogin, .loggedOut), then: []),
    Retry(
      first: UserCommand(alice, .endSession(login, .loggedOut)),
      again: UserCommand(alice, .endSession(login, .loggedOut)), act: aliceAct, later: []),
    Retry(
      first: UserCommand(alice, .removeDevice(phone)), again: UserCommand(alice, .removeDevice(phone)),
      act: .user(alice, session: otherLogin, key: .retried), later: [.deviceRegistered(phone, .named())],
      loss: [.sessionEnded(otherLogin, .loggedOut)], refusal: .sessionEnded),
    Retry(
      first: UserCommand(alice, .invalidatePushToken(phone, token)),
      again: UserCommand(alice, .invalidatePushToken(phone, token)), act: .service(key: .retried),
      later: [.deviceUpdated(phone, .named(tokens: [token]))]),
    Retry(
      first: UserCommand(alice, .register(.named())), again: UserCommand(alice, .register(.named(key: 2))),
      act: .nobody(), later: [.profileChanged(Profile(nickname: "Al"))]),
    Retry(
      first: UserCommand(alice, .startSession(id(22), device: phone, credentialVersion: 1)),
      again: UserCommand(alice, .startSession(id(22), device: phone, credentialVersion: 1)), act: .user(alice),
      later: [.deviceRemoved(tablet)]),
    Retry(
      first: UserCommand(alice, .refreshSession(login, presented: 1)),
      again: UserCommand(alice, .refreshSession(login, presented: 1)), act: aliceAct,
      later: [.profileChanged(Profile(nickname: "Al"))], loss: [.sessionEnded(login, .loggedOut)],
      refusal: .sessionEnded),
  ]

  @Test("of a user", arguments: ofUser)
  func user(retry: Retry<UserDecider>) throws {
    try check(
      retry,
      after: aliceAtHome + [
        .sessionStarted(otherLogin, device: nil), .deviceUpdated(phone, .named(tokens: [Self.token])),
      ])
  }

  // MARK: How

  private func check<D: Decider>(_ retry: Retry<D>, after facts: [D.Event]) throws
  where D.Event: Traceable {
    var desk = Desk<D>(facts)
    desk.directory.registered.insert(Self.newcomer)
    let stamp = try desk.submit(retry.first, by: retry.act)
    for fact in retry.later { desk.record(fact) }
    var after = retry.act
    after.time = noon.adding(milliseconds: 400 * 86_400_000)
    let (state, count) = (desk.state, desk.facts.count)
    for _ in 1...2 { #expect(try desk.submit(retry.again, by: after) == stamp) }
    #expect(desk.facts.count == count)
    #expect(desk.state == state)
    guard let refusal = retry.refusal else { return }
    for fact in retry.loss { desk.record(fact) }
    #expect(throws: refusal) { try desk.submit(retry.again, by: after) }
  }

  @Test("a key that comes with something else is refused, and another's or a new key is no retry")
  func reusedKey() throws {
    var desk = Desk<RoomDecider>(Self.room)
    let first = try desk.submit(.edit(RoomEdit(name: "coffee")), by: Self.bobAct)
    #expect(throws: Rejection.idempotencyKeyReused) { try desk.submit(.edit(RoomEdit(name: "water")), by: Self.bobAct) }
    #expect(throws: Rejection.idempotencyKeyReused) { try desk.submit(.archive, by: Self.bobAct) }
    #expect(try desk.submit(.edit(RoomEdit(name: "coffee")), by: Self.bobAct) == first)
    #expect(
      try desk.submit(.edit(RoomEdit(name: "coffee")), by: .user(bob, key: id(71))) == .at(first.position.value + 1))
    #expect(
      try desk.submit(.edit(RoomEdit(name: "coffee")), by: .user(alice, key: .retried)) == .at(first.position.value + 2)
    )
    // An ID is its own key: a second message under a used one is a message all the same.
    let sent = try desk.submit(.send(id: id(42), by: bob), by: Self.bobAct)
    #expect(sent == .at(first.position.value + 3))
  }

  @Test("a key whose fact was erased answers nothing")
  func erasedKey() {
    let room = given(RoomDecider.self, Self.room)
    let prior = CommandFacts(stamp: .at(1), fingerprint: nil)
    #expect(throws: Rejection.idempotencyKeyReused) {
      try RoomDecider.settle(.archive, by: Self.bobAct, prior: prior, on: .zero, in: room.state, room.directory)
    }
  }

  @Test("a key is bound to its stream: in another one it is refused")
  func keyOfAnotherStream() throws {
    let room = given(RoomDecider.self, Self.room)
    let (tea, coffee) = (UUIDBytes(high: 1, low: 1), UUIDBytes(high: 1, low: 2))
    let prior = CommandFacts(stamp: .at(9), fingerprint: RoomCommand.archive.fingerprint.scoped(to: tea))
    func settle(on stream: UUIDBytes) throws(Rejection) -> Verdict<RoomEvent> {
      try RoomDecider.settle(.archive, by: Self.bobAct, prior: prior, on: stream, in: room.state, room.directory)
    }
    #expect(try settle(on: tea) == .alreadyDone(.at(9)))
    #expect(throws: Rejection.idempotencyKeyReused) { try settle(on: coffee) }
  }
}
