import ChatDomain
import ChatPrimitives
import Testing

extension CommandID {
  static var retried: CommandID { id(70) }
}

@Suite("Every retry is always safe")
struct RetrySpecs {
  private static let newcomer = retryingNewcomer
  private static let later = noon.adding(milliseconds: 3_600_000)
  private static let bobContext = CommandContext.user(bob, key: .retried)
  private static let aliceContext = CommandContext.user(alice, session: login, key: .retried)

  // MARK: Rooms

  /// Position 6 is an invite, 7 a message from bob, and 8 one from dave. The command's event is the ninth.
  private static let room: [RoomEvent] =
    teaRoom + [
      .sharing(.inviteCreated(.giving(uses: 1))), .messages(.sent(hello, author: bob, thread: nil, .plain("hello"))),
      .messages(.sent(id(41), author: dave, thread: nil, .plain("hello"))),
    ]

  private static func byBob(
    _ command: RoomCommand, knowing known: [MessageID: KnownMessage] = [:],
    later knownAgain: [MessageID: KnownMessage]? = nil,
    then later: [RoomEvent]
  ) -> Retry<RoomDecider> {
    Retry(
      first: command, again: command, context: bobContext, later: later, loss: [.members(.removed(bob))],
      refusal: .roomNotFound, known: .messages(known), knownAgain: knownAgain.map { .messages($0) })
  }

  private static let ofDave: [MessageID: KnownMessage] = [id(41): .of(dave, ordinal: 2, at: 8)]

  static let ofRoom: [Retry<RoomDecider>] = [
    byBob(
      .lifecycle(.edit(RoomEdit(name: "coffee"))),
      then: [.lifecycle(.edited(RoomEdit(name: "water"))), .lifecycle(.archived)]),
    byBob(.lifecycle(.edit(RoomEdit(custom: "{}"))), then: [.lifecycle(.edited(RoomEdit(custom: "")))]),
    byBob(.lifecycle(.archive), then: []),
    byBob(.lifecycle(.archive), then: [.lifecycle(.restored)]),
    byBob(
      .members(.changeRole(dave, .administrator)), then: [.members(.roleChanged(dave, .member)), .members(.left(dave))]),
    // A user who has lowered their own role no longer has the right to change it.
    byBob(.members(.changeRole(bob, .member)), then: []),
    byBob(.members(.changeRole(bob, .member)), then: [.members(.roleChanged(bob, .administrator))]),
    byBob(.members(.ban(dave)), then: [.members(.unbanned(dave)), .members(.added(dave, role: .administrator))]),
    byBob(.members(.ban(newcomer)), then: [.members(.unbanned(newcomer))]),
    byBob(
      .members(.silence(dave, until: later)), then: [.members(.silenced(dave, until: nil)), .members(.left(dave))]),
    Retry(
      first: .members(.transfer(to: bob)), again: .members(.transfer(to: bob)), context: .user(alice, key: .retried),
      later: [.members(.roleChanged(alice, .owner)), .members(.roleChanged(bob, .member))],
      loss: [.members(.removed(alice))],
      refusal: .roomNotFound),
    byBob(
      .sharing(.createInvite(.giving(id: id(31)))), then: [.sharing(.inviteRevoked(id(31))), .lifecycle(.archived)]),
    byBob(.sharing(.revokeInvite(link)), then: [.lifecycle(.archived)]),
    byBob(.members(.add(newcomer)), then: [.members(.removed(newcomer))]),
    byBob(.members(.remove(dave)), then: [.members(.joined(dave, role: .administrator, invite: nil))]),
    byBob(.members(.mute(until: noon)), then: [.members(.muted(bob, until: nil))]),
    byBob(.members(.setNotifications(.mentions)), then: [.members(.notificationsSet(bob, nil))]),
    byBob(
      .send(id: id(42)), later: [id(42): .of(bob, ordinal: 3, at: 9)],
      then: [
        .messages(.edited(id(42), at: .room(3), .plain("hi"))), .messages(.deleted(id(42), at: .room(3))),
        .lifecycle(.archived),
      ]),
    byBob(
      .messages(.edit(hello, .plain("hi"))), knowing: [hello: .of(bob, at: 7)],
      later: [hello: .of(bob, at: 7, deletedAt: 11)],
      then: [
        .messages(.edited(hello, at: .room(1), .plain("ho"))), .messages(.deleted(hello, at: .room(1))),
        .lifecycle(.archived),
      ]),
    byBob(
      .messages(.delete(id(41))), knowing: ofDave, later: [id(41): .of(dave, ordinal: 2, at: 8, deletedAt: 9)],
      then: [.lifecycle(.archived)]),
    byBob(
      .reading(.moveMarker(to: id(41))), knowing: ofDave,
      then: [
        .messages(.sent(id(43), author: dave, thread: nil, .plain("and"))),
        .reading(.markerMoved(bob, to: id(43), ordinal: 3)),
        .messages(.deleted(id(41), at: .room(2))),
      ]),
    byBob(
      .reading(.markUnread(from: id(41))), knowing: ofDave,
      then: [.reading(.markerMoved(bob, to: id(41), ordinal: 2)), .messages(.deleted(id(41), at: .room(2)))]),
    byBob(
      .annotations(.react(id(41), "👍")), knowing: ofDave,
      then: [.annotations(.reactionRemoved(id(41), at: .room(2), by: bob, emoji: "👍")), .lifecycle(.archived)]),
    byBob(
      .annotations(.unreact(id(41), "👍")), knowing: ofDave,
      then: [.annotations(.reactionAdded(id(41), at: .room(2), by: bob, emoji: "👍")), .lifecycle(.archived)]),
    byBob(
      .annotations(.pin(id(41))), knowing: ofDave,
      then: [.annotations(.unpinned(id(41), at: .room(2))), .lifecycle(.archived)]),
    byBob(.annotations(.unpin(id(41))), knowing: ofDave, then: [.annotations(.pinned(id(41), at: .room(2)))]),
    byBob(
      .threads(.setFollowing(hello, true)), knowing: [hello: .of(bob, at: 7)],
      then: [.threads(.followingSet(bob, ThreadRoot(message: hello, ordinal: 1), follows: false))]),
    byBob(
      .threads(.moveMarker(to: id(44), in: hello)),
      knowing: [id(44): .of(dave, in: MessageLocation(thread: 1, ordinal: 1)), hello: .of(bob, at: 7)],
      then: [.threads(.markerMoved(bob, to: id(45), at: MessageLocation(thread: 1, ordinal: 2)))]),
    Retry(
      first: .members(.leave), again: .members(.leave), context: bobContext,
      later: [.members(.added(bob, role: .member))]),
    Retry(
      first: .sharing(.acceptInvite(link)), again: .sharing(.acceptInvite(link)),
      context: .user(newcomer, key: .retried),
      later: [.members(.left(newcomer)), .sharing(.inviteRevoked(link)), .lifecycle(.archived)],
      loss: [.members(.banned(newcomer))],
      refusal: .banned),
    Retry(
      first: .members(.join), again: .members(.join), context: .service(for: newcomer, key: .retried),
      later: [.members(.left(newcomer)), .lifecycle(.archived)], loss: [.members(.banned(newcomer))], refusal: .banned),
    // The retry does not bring back a member who was added again and then left.
    byBob(.members(.add(carol)), then: [.members(.left(carol))]),
    Retry(
      first: .sharing(.acceptInvite(link)), again: .sharing(.acceptInvite(link)), context: .user(carol, key: .retried),
      later: [.members(.left(carol))], loss: [.members(.banned(carol))], refusal: .banned),
    Retry(
      first: .members(.join), again: .members(.join), context: .service(for: carol, key: .retried),
      later: [.members(.left(carol))],
      loss: [.members(.banned(carol))], refusal: .banned),
  ]

  @Test("in a room", arguments: ofRoom)
  func room(retry: Retry<RoomDecider>) throws { try checkRetry(retry, after: Self.room) }

  @Test("of a command that changed nothing, or whose object is gone")
  func commandsWithoutEffect() throws {
    // A command that changes nothing is still recorded under its key, so that a late retry is recognized.
    try checkRetry(
      Self.byBob(.lifecycle(.archive), then: [.lifecycle(.restored)]), after: Self.room + [.lifecycle(.archived)])
    try checkRetry(Self.byBob(.lifecycle(.restore), then: [.lifecycle(.archived)]), after: Self.room)
    try checkRetry(
      Self.byBob(.lifecycle(.restore), then: [.lifecycle(.archived)]), after: Self.room + [.lifecycle(.archived)])
    try checkRetry(
      Self.byBob(.members(.ban(dave)), then: [.members(.unbanned(dave))]), after: Self.room + [.members(.banned(dave))])
    try checkRetry(
      Self.byBob(.members(.unban(dave)), then: [.members(.banned(dave))]), after: Self.room + [.members(.banned(dave))])
    try checkRetry(
      Retry<RoomDecider>(
        first: .lifecycle(.delete), again: .lifecycle(.delete), context: .user(alice, key: .retried), later: []),
      after: Self.room)
  }

  @Test("a repeated creation returns the first room, even if it has changed since")
  func creation() throws {
    let command = RoomCommand.lifecycle(.create(.named()))
    try checkRetry(
      Retry<RoomDecider>(
        first: command, again: command, context: .user(alice),
        later: [.lifecycle(.edited(RoomEdit(name: "coffee"))), .members(.left(alice)), .lifecycle(.archived)]),
      after: [])
    let direct = RoomCommand.lifecycle(.create(.direct(alice, bob)))
    try checkRetry(
      Retry<RoomDecider>(
        first: direct, again: .lifecycle(.create(.direct(alice, bob))), context: .user(alice), later: []),
      after: [])
  }

  // MARK: Users

  private static func byAlice(_ command: UserCommand, then later: [UserEvent]) -> Retry<UserDecider> {
    Retry(
      first: command, again: command, context: aliceContext, later: later, loss: [.sessions(.ended(login, .loggedOut))],
      refusal: .sessionEnded)
  }

  private static let token = PushToken(provider: .apns, token: "a1b2")

  static let ofUser: [Retry<UserDecider>] = [
    byAlice(
      .account(.changeProfile(ProfileEdit(nickname: "Al"))),
      then: [.account(.profileChanged(ProfileEdit(nickname: "Ali")))]),
    byAlice(
      .account(.changeProfile(ProfileEdit(custom: "{}"))), then: [.account(.profileChanged(ProfileEdit(custom: "")))]),
    byAlice(.devices(.set(tablet, .named("tablet"))), then: [.devices(.updated(tablet, .named("mine")))]),
    byAlice(.devices(.set(tablet, .named("tablet"))), then: [.devices(.removed(tablet))]),
    byAlice(.devices(.set(phone, .named("phone"))), then: [.devices(.updated(phone, .named("mine")))]),
    byAlice(.sessions(.end(otherLogin, .loggedOut)), then: []),
    byAlice(.sessions(.endMany(.others)), then: [.sessions(.started(id(23), device: nil))]),
    byAlice(
      .account(.changeProfile(ProfileEdit(picture: .remove))),
      then: [.account(.profileChanged(ProfileEdit(picture: .set(id(80)))))]),
    byAlice(.account(.setEmail("al@example.org", checked: 1)), then: [.account(.emailSet("ali@example.org"))]),
    Retry(
      first: .logins(.changePassword(.version(2), checked: 1)),
      again: .logins(.changePassword(.version(2), checked: 2)), context: aliceContext,
      later: [.account(.profileChanged(ProfileEdit(nickname: "Al")))], loss: [.logins(.credentialSet(.version(3)))],
      refusal: .passwordWrong),
    Retry(
      first: .logins(.resetPassword(.version(2), issuedFor: 1)),
      again: .logins(.resetPassword(.version(2), issuedFor: 1)), context: .user(alice),
      later: [.sessions(.started(id(23), device: nil))]),
    Retry(
      first: .logins(.link(.of("a"), proof: .password(version: 1))),
      again: .logins(.link(.of("a"), proof: .password(version: 1))),
      context: aliceContext,
      later: [.logins(.identityUnlinked(.of("a"), linked: .first)), .logins(.identityLinked(.of("b")))],
      loss: [.sessions(.ended(login, .loggedOut))],
      refusal: .sessionEnded),
    Retry(
      first: .account(.disable), again: .account(.disable), context: .service(key: .retried),
      later: [.account(.enabled)]),
    Retry(
      first: .account(.enable), again: .account(.enable), context: .service(key: .retried),
      later: [.account(.disabled)]),
    Retry(
      first: .sessions(.end(login, .loggedOut)),
      again: .sessions(.end(login, .loggedOut)), context: aliceContext, later: []),
    Retry(
      first: .devices(.remove(phone)), again: .devices(.remove(phone)),
      context: .user(alice, session: otherLogin, key: .retried), later: [.devices(.registered(phone, .named()))],
      loss: [.sessions(.ended(otherLogin, .loggedOut))], refusal: .sessionEnded),
    Retry(
      first: .devices(.invalidateToken(phone, token)),
      again: .devices(.invalidateToken(phone, token)), context: .service(key: .retried),
      later: [.devices(.updated(phone, .named(tokens: [token])))]),
    Retry(
      first: .account(.register(.named())), again: .account(.register(.named(key: 2))),
      context: .nobody(), later: [.account(.profileChanged(ProfileEdit(nickname: "Al")))]),
    Retry(
      first: .sessions(.start(id(22), device: phone, proof: .password(version: 1))),
      again: .sessions(.start(id(22), device: phone, proof: .password(version: 1))),
      context: .user(alice),
      later: [.devices(.removed(tablet))]),
    Retry(
      first: .sessions(.refresh(login, presented: 1, oldest: nil)),
      again: .sessions(.refresh(login, presented: 1, oldest: nil)), context: aliceContext,
      later: [.account(.profileChanged(ProfileEdit(nickname: "Al")))], loss: [.sessions(.ended(login, .loggedOut))],
      refusal: .sessionEnded),
  ]

  @Test("of a user", arguments: ofUser)
  func user(retry: Retry<UserDecider>) throws {
    try checkRetry(
      retry,
      after: aliceAtHome + [
        .sessions(.started(otherLogin, device: nil)), .devices(.updated(phone, .named(tokens: [Self.token]))),
      ])
  }

  // MARK: Keys

  @Test("a key with another command is refused, and another user's key or a new key is not a retry")
  func reusedKey() throws {
    var harness = DeciderHarness<RoomDecider>(Self.room)
    let first = try harness.submit(.lifecycle(.edit(RoomEdit(name: "coffee"))), by: Self.bobContext)
    #expect(throws: Rejection.idempotencyKeyReused) {
      try harness.submit(.lifecycle(.edit(RoomEdit(name: "water"))), by: Self.bobContext)
    }
    #expect(throws: Rejection.idempotencyKeyReused) { try harness.submit(.lifecycle(.archive), by: Self.bobContext) }
    #expect(try harness.submit(.lifecycle(.edit(RoomEdit(name: "coffee"))), by: Self.bobContext) == first)
    #expect(
      try harness.submit(.lifecycle(.edit(RoomEdit(name: "coffee"))), by: .user(bob, key: id(71)))
        == .at(first.position.value + 1))
    #expect(
      try harness.submit(.lifecycle(.edit(RoomEdit(name: "coffee"))), by: .user(alice, key: .retried))
        == .at(first.position.value + 2)
    )
    // An ID is its own key: a second message under a used key is still another message.
    let sent = try harness.submit(.send(id: id(42)), by: Self.bobContext)
    #expect(sent == .at(first.position.value + 3))
  }

  @Test("a key whose event was erased is refused")
  func erasedKey() {
    var known = Known()
    known.commands[CommandKey(actor: bob.uuid, command: .retried)] = KnownCommand(stamp: .at(1), fingerprint: nil)
    given(RoomDecider.self, Self.room).knowing(known).when(.lifecycle(.archive), by: Self.bobContext)
      .thenRejected(.idempotencyKeyReused)
  }

  @Test("a key is bound to its stream: in another one it is refused")
  func keyOfAnotherStream() throws {
    let room = given(RoomDecider.self, Self.room)
    let (tea, coffee): (RoomID, RoomID) = (id(90), id(91))
    let command = RoomCommand.lifecycle(.archive)
    let fingerprint = command.fingerprint(by: bob)
    var known = Known()
    known.commands[CommandKey(actor: bob.uuid, command: .retried)] = KnownCommand(
      stamp: .at(9), fingerprint: fingerprint.scoped(to: tea.uuid))
    func handle(on id: RoomID) throws(Rejection) -> Decision<RoomEvent> {
      let basis = DecisionBasis<Entity.Room, RoomState>(
        id: id, context: Self.bobContext, fingerprint: fingerprint, known: known, state: room.state)
      return try RoomDecider.handle(command, on: basis, room.directory)
    }
    #expect(try handle(on: tea) == .alreadyDone(.at(9)))
    #expect(throws: Rejection.idempotencyKeyReused) { try handle(on: coffee) }
  }
}
