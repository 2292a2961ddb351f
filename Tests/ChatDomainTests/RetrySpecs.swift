import ChatDomain
import ChatPrimitives
import Testing

extension CommandID {
  static var retried: CommandID { id(70) }
}

@Suite("Every retry is safe for ever")
struct RetrySpecs {
  private static let newcomer = retryingNewcomer
  private static let later = noon.adding(milliseconds: 3_600_000)
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
    byBob(.archive, then: [.restored]),
    byBob(.changeRole(dave, .administrator), then: [.roleChanged(dave, .member), .memberLeft(dave)]),
    // Who lowered oneself has no right to it any more.
    byBob(.changeRole(bob, .member), then: []),
    byBob(.changeRole(bob, .member), then: [.roleChanged(bob, .administrator)]),
    byBob(.ban(dave), then: [.memberUnbanned(dave), .memberAdded(dave, role: .administrator)]),
    byBob(.ban(newcomer), then: [.memberUnbanned(newcomer)]),
    byBob(.silence(dave, until: later), then: [.memberSilenced(dave, until: nil), .memberLeft(dave)]),
    Retry(
      first: .transfer(to: bob), again: .transfer(to: bob), act: .user(alice, key: .retried),
      later: [.roleChanged(alice, .owner), .roleChanged(bob, .member)], loss: [.memberRemoved(alice)],
      refusal: .roomNotFound),
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
    byBob(
      .react(id(41), "👍", target: .of(dave, ordinal: 2, at: 8)),
      then: [.reactionRemoved(id(41), at: .room(2), by: bob, emoji: "👍"), .archived]),
    byBob(
      .unreact(id(41), "👍", target: .of(dave, ordinal: 2, at: 8)),
      then: [.reactionAdded(id(41), at: .room(2), by: bob, emoji: "👍"), .archived]),
    byBob(
      .pin(id(41), target: .of(dave, ordinal: 2, at: 8)), again: .pin(id(41), target: .of(dave, ordinal: 2, at: 8)),
      then: [.messageUnpinned(id(41), at: .room(2)), .archived]),
    byBob(.unpin(id(41), target: .of(dave, ordinal: 2, at: 8)), then: [.messagePinned(id(41), at: .room(2))]),
    byBob(
      .setThreadFollowing(hello, true, target: .of(bob, at: 7)),
      then: [.threadFollowingSet(bob, ThreadRoot(message: hello, ordinal: 1), follows: false)]),
    byBob(
      .moveThreadMarker(
        id(44), root: hello, target: .of(dave, in: MessagePlace(thread: 1, ordinal: 1)), rootFacts: .of(bob, at: 7)),
      then: [.threadMarkerMoved(bob, to: id(45), at: MessagePlace(thread: 1, ordinal: 2))]),
    Retry(
      first: .leave, again: .leave, act: bobAct, later: [.memberAdded(bob, role: .member)]),
    Retry(
      first: .acceptInvite(link), again: .acceptInvite(link), act: .user(newcomer, key: .retried),
      later: [.memberLeft(newcomer), .inviteRevoked(link), .archived], loss: [.memberBanned(newcomer)],
      refusal: .banned),
    Retry(
      first: .join, again: .join, act: .service(for: newcomer, key: .retried),
      later: [.memberLeft(newcomer), .archived], loss: [.memberBanned(newcomer)], refusal: .banned),
    // A member who comes in again and then leaves is not brought back by the retry.
    byBob(.addMember(carol), then: [.memberLeft(carol)]),
    Retry(
      first: .acceptInvite(link), again: .acceptInvite(link), act: .user(carol, key: .retried),
      later: [.memberLeft(carol)], loss: [.memberBanned(carol)], refusal: .banned),
    Retry(
      first: .join, again: .join, act: .service(for: carol, key: .retried), later: [.memberLeft(carol)],
      loss: [.memberBanned(carol)], refusal: .banned),
  ]

  @Test("in a room", arguments: ofRoom)
  func room(retry: Retry<RoomDecider>) throws { try checkRetry(retry, after: Self.room) }

  @Test("of an act that its repetition would undo, or that has nothing left to be done to")
  func repeatedActs() throws {
    // Who stands as asked for already has it recorded under the key all the same, so that the late retry is known.
    try checkRetry(
      Self.byBob(.archive, then: [.restored]), after: Self.room + [.archived])
    try checkRetry(Self.byBob(.restore, then: [.archived]), after: Self.room)
    try checkRetry(Self.byBob(.restore, then: [.archived]), after: Self.room + [.archived])
    try checkRetry(Self.byBob(.ban(dave), then: [.memberUnbanned(dave)]), after: Self.room + [.memberBanned(dave)])
    try checkRetry(Self.byBob(.unban(dave), then: [.memberBanned(dave)]), after: Self.room + [.memberBanned(dave)])
    try checkRetry(
      Retry<RoomDecider>(first: .delete, again: .delete, act: .user(alice, key: .retried), later: []),
      after: Self.room)
  }

  @Test("a room is created once, whoever is in it by then")
  func creation() throws {
    let command = RoomCommand.create(.named())
    try checkRetry(
      Retry<RoomDecider>(
        first: command, again: command, act: .user(alice),
        later: [.edited(RoomEdit(name: "coffee")), .memberLeft(alice), .archived]), after: [])
    let direct = RoomCommand.create(.direct(alice, bob))
    try checkRetry(
      Retry<RoomDecider>(first: direct, again: .create(.direct(alice, bob)), act: .user(alice), later: []), after: [])
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
    byAlice(.changeProfile(ProfileEdit(nickname: "Al")), then: [.profileChanged(ProfileEdit(nickname: "Ali"))]),
    byAlice(.setDevice(tablet, .named("tablet")), then: [.deviceUpdated(tablet, .named("mine"))]),
    byAlice(.setDevice(tablet, .named("tablet")), then: [.deviceRemoved(tablet)]),
    byAlice(.setDevice(phone, .named("phone")), then: [.deviceUpdated(phone, .named("mine"))]),
    byAlice(.endSession(otherLogin, .loggedOut), then: []),
    byAlice(.endSessions(.others), then: [.sessionStarted(id(23), device: nil)]),
    byAlice(.changeProfile(ProfileEdit(picture: .remove)), then: [.profileChanged(ProfileEdit(picture: .set(id(80))))]),
    byAlice(.setEmail("al@example.org", checked: 1), then: [.emailSet("ali@example.org")]),
    Retry(
      first: UserCommand(alice, .changePassword(.version(2), checked: 1)),
      again: UserCommand(alice, .changePassword(.version(2), checked: 2)), act: aliceAct,
      later: [.profileChanged(ProfileEdit(nickname: "Al"))], loss: [.credentialSet(.version(3))],
      refusal: .passwordWrong),
    Retry(
      first: UserCommand(alice, .resetPassword(.version(2), issuedFor: 1)),
      again: UserCommand(alice, .resetPassword(.version(2), issuedFor: 1)), act: .user(alice),
      later: [.sessionStarted(id(23), device: nil)]),
    Retry(
      first: UserCommand(alice, .linkIdentity(.of("a"), proof: .password(version: 1))),
      again: UserCommand(alice, .linkIdentity(.of("a"), proof: .password(version: 1))),
      act: aliceAct, later: [.identityUnlinked(.of("a"), linked: .first), .identityLinked(.of("b"))],
      loss: [.sessionEnded(login, .loggedOut)],
      refusal: .sessionEnded),
    Retry(
      first: UserCommand(alice, .disable), again: UserCommand(alice, .disable), act: .service(key: .retried),
      later: [.enabled]),
    Retry(
      first: UserCommand(alice, .enable), again: UserCommand(alice, .enable), act: .service(key: .retried),
      later: [.disabled]),
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
      act: .nobody(), later: [.profileChanged(ProfileEdit(nickname: "Al"))]),
    Retry(
      first: UserCommand(alice, .startSession(id(22), device: phone, proof: .password(version: 1))),
      again: UserCommand(alice, .startSession(id(22), device: phone, proof: .password(version: 1))), act: .user(alice),
      later: [.deviceRemoved(tablet)]),
    Retry(
      first: UserCommand(alice, .refreshSession(login, presented: 1, oldest: nil)),
      again: UserCommand(alice, .refreshSession(login, presented: 1, oldest: nil)), act: aliceAct,
      later: [.profileChanged(ProfileEdit(nickname: "Al"))], loss: [.sessionEnded(login, .loggedOut)],
      refusal: .sessionEnded),
  ]

  @Test("of a user", arguments: ofUser)
  func user(retry: Retry<UserDecider>) throws {
    try checkRetry(
      retry,
      after: aliceAtHome + [
        .sessionStarted(otherLogin, device: nil), .deviceUpdated(phone, .named(tokens: [Self.token])),
      ])
  }

  // MARK: How

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
