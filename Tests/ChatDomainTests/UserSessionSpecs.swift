import ChatDomain
import ChatPrimitives
import Testing

@Suite("Sessions")
struct UserSessionSpecs {
  private func starting(
    _ session: SessionID = login, device: DeviceID? = phone, proof: LoginProof = .password(version: 1)
  ) -> UserCommand {
    .sessions(.start(session, device: device, proof: proof))
  }

  private func refreshing(_ presented: UInt32, _ session: SessionID = login) -> UserCommand {
    .sessions(.refresh(session, presented: presented, oldest: nil))
  }

  private func ending(_ session: SessionID = login) -> UserCommand {
    .sessions(.end(session, .loggedOut))
  }

  // MARK: Start

  @Test("a login starts a session, on a device that need not be registered yet")
  func starts() {
    given(UserDecider.self, [.account(.registered(.named()))]).when(starting(), by: .user(alice))
      .thenRecorded(.sessions(.started(login, device: phone)))
  }

  @Test("the password must have been checked against the current credential")
  func checksCredential() {
    let state = given(UserDecider.self, [.account(.registered(.named(credential: .version(2))))])
    state.when(starting(), by: .user(alice)).thenRejected(.credentialsRejected)
    state.when(starting(proof: .password(version: 2)), by: .user(alice)).thenAccepted()
    state.when(starting(proof: .service), by: .user(alice)).thenRejected(.serviceOnly)
    state.when(starting(proof: .service), by: .service(for: alice)).thenAccepted()
    given(UserDecider.self, [.account(.registered(.named(email: nil, credential: nil)))])
      .when(starting(), by: .user(alice)).thenRejected(.credentialsRejected)
    given(UserDecider.self, []).when(starting(), by: .user(alice)).thenRejected(.userNotFound)
  }

  @Test("a repeated login starts one session, on the same device and until the first refresh")
  func startsOnce() {
    let state = given(UserDecider.self, aliceAtHome)
    state.when(starting(), by: .user(alice)).thenAlreadyDone(at: 3)
    state.when(starting(device: tablet), by: .user(alice)).thenRejected(.idInUse)
    state.when(starting(device: nil), by: .user(alice)).thenRejected(.idInUse)
    let refreshed = given(UserDecider.self, aliceAtHome + [.sessions(.refreshed(login, generation: 2))])
    refreshed.when(starting(), by: .user(alice)).thenRejected(.sessionRefreshed)
    refreshed.when(starting(device: tablet), by: .user(alice)).thenRejected(.idInUse)
    given(UserDecider.self, aliceAtHome + [.sessions(.ended(login, .loggedOut))])
      .when(starting(), by: .user(alice)).thenRejected(.sessionEnded)
  }

  /// Session 1000 is refreshed last, so session 1001 has the oldest token pair.
  @Test(
    "a login beyond the open sessions there may be ends those whose pair is oldest",
    arguments: [(99, []), (100, [1001]), (101, [1001, 1002])] as [(Int, [UInt64])])
  func openSessions(count: Int, superseded: [UInt64]) throws {
    let open =
      (0..<count).map { UserEvent.sessions(.started(id(1000 + UInt64($0)), device: nil)) }
      + [.sessions(.refreshed(id(1000), generation: 2))]
    let ended = (0..<3).flatMap { number -> [UserEvent] in
      [
        .sessions(.started(id(5000 + UInt64(number)), device: nil)),
        .sessions(.ended(id(5000 + UInt64(number)), .loggedOut)),
      ]
    }
    let state = given(UserDecider.self, [.account(.registered(.named()))] + ended + open)
    let events =
      [.sessions(.started(login, device: phone))] + superseded.map { UserEvent.sessions(.ended(id($0), .superseded)) }
    #expect(state.when(starting(), by: .user(alice)).result == .success(.record(events)))
    var harness = DeciderHarness<UserDecider>([.account(.registered(.named()))] + ended + open)
    _ = try harness.submit(starting(), by: .user(alice))
    guard case .registered(let user) = harness.state else { return }
    #expect(user.openSessions.count == 100)
    #expect(user.openSessions.contains(login))
    // A retry starts no session, so no other session has to end.
    state.when(starting(id(1001), device: nil), by: .user(alice)).thenAlreadyDone(at: 9)
  }

  @Test("the end of the session that a command names is looked up, and the key unless it is known by itself")
  func lookups() throws {
    let context = CommandContext.user(alice, session: login, key: .retried)
    let ofKey = try #require(CommandKey(of: context))
    let cases: [(UserCommand, EndingKey?, CommandKey?)] = [
      (starting(), .session(alice, login), nil), (refreshing(1), .session(alice, login), nil),
      (ending(otherLogin), .session(alice, otherLogin), ofKey), (.sessions(.endMany(.all)), nil, ofKey),
      (.account(.register(.named())), nil, nil), (.account(.registerIdentified(.named(), .of("a"))), nil, nil),
      (.account(.disable), nil, ofKey), (.logins(.resetPassword(.version(2), issuedFor: 1)), nil, nil),
      (.logins(.unlink(.of("a"))), nil, ofKey), (.devices(.remove(phone)), nil, ofKey),
    ]
    for (command, ending, key) in cases {
      var lookup = Lookup()
      (lookup.ending, lookup.command) = (ending, key)
      #expect(command.lookup(on: alice, by: context) == lookup)
    }
  }

  // MARK: Refresh

  @Test("the newest generation makes the next; the one before gets the newest again as long as that is unused")
  func refreshes() {
    let first = given(UserDecider.self, aliceAtHome)
    first.when(refreshing(1), by: .user(alice)).thenRecorded(.sessions(.refreshed(login, generation: 2)))
    let second = given(UserDecider.self, aliceAtHome + [.sessions(.refreshed(login, generation: 2))])
    second.when(refreshing(1), by: .user(alice)).thenAlreadyDone(at: 4)
    second.when(refreshing(2), by: .user(alice)).thenRecorded(.sessions(.refreshed(login, generation: 3)))
  }

  @Test("a token whose successor was used ends the session, and always gets the same rejection")
  func endsOnReuse() {
    let events: [UserEvent] =
      aliceAtHome + [.sessions(.refreshed(login, generation: 2)), .sessions(.refreshed(login, generation: 3))]
    let state = given(UserDecider.self, events)
    state.when(refreshing(1), by: .user(alice)).thenRecorded(.sessions(.ended(login, .refreshTokenReused)))
    state.when(refreshing(2), by: .user(alice)).thenAlreadyDone(at: 5)
    let ended = given(UserDecider.self, events + [.sessions(.ended(login, .refreshTokenReused))])
    for generation: UInt32 in 1...4 {
      ended.when(refreshing(generation), by: .user(alice, session: login)).thenRejected(.refreshTokenReused)
    }
  }

  @Test("a generation or a session that does not exist counts as expired")
  func refusesUnknown() {
    let state = given(UserDecider.self, aliceAtHome)
    state.when(refreshing(0), by: .user(alice)).thenRejected(.refreshTokenExpired)
    state.when(refreshing(2), by: .user(alice)).thenRejected(.refreshTokenExpired)
    state.when(refreshing(.max), by: .user(alice)).thenRejected(.refreshTokenExpired)
    state.when(refreshing(1, otherLogin), by: .user(alice)).thenRejected(.refreshTokenExpired)
    given(UserDecider.self, aliceAtHome + [.sessions(.refreshed(login, generation: .max))])
      .when(refreshing(.max), by: .user(alice)).thenRejected(.refreshTokenExpired)
  }

  @Test("an ended session is not refreshed", arguments: [SessionEnd.loggedOut, .deviceRemoved, .superseded])
  func refusesEnded(reason: SessionEnd) {
    given(UserDecider.self, aliceAtHome + [.sessions(.ended(login, reason))])
      .when(refreshing(1), by: .user(alice, session: login)).thenRejected(.sessionEnded)
  }

  // MARK: End

  @Test("a logout ends the session once, and its retry is answered in the session's own name")
  func ends() {
    given(UserDecider.self, aliceAtHome).when(ending(), by: .user(alice, session: login))
      .thenRecorded(.sessions(.ended(login, .loggedOut)))
    let ended = given(UserDecider.self, aliceAtHome + [.sessions(.ended(login, .loggedOut))])
    ended.when(ending(), by: .user(alice, session: login)).thenAlreadyDone(at: 4)
    ended.when(ending(otherLogin), by: .user(alice)).thenRejected(.sessionNotFound)
    ended.when(ending(), by: .user(bob)).thenRejected(.forbidden)
  }

  @Test("the first end counts")
  func firstEndCounts() {
    given(
      UserDecider.self, aliceAtHome + [.sessions(.ended(login, .loggedOut)), .sessions(.ended(login, .deviceRemoved))]
    )
    .when(ending(), by: .user(alice)).thenAlreadyDone(at: 4)
  }

  @Test("an ended session does nothing else, and an unknown one nothing at all")
  func endedSessionIsDead() {
    let events = aliceAtHome + [.sessions(.started(otherLogin, device: nil)), .sessions(.ended(login, .loggedOut))]
    let state = given(UserDecider.self, events)
    let actions: [UserCommand] = [
      .account(.changeProfile(ProfileEdit(nickname: "Al"))), .devices(.set(phone, .named())), .devices(.remove(phone)),
      .sessions(.end(otherLogin, .loggedOut)), .sessions(.refresh(otherLogin, presented: 1, oldest: nil)),
      .sessions(.start(id(22), device: nil, proof: .password(version: 1))),
    ]
    for action in actions {
      state.when(action, by: .user(alice, session: login)).thenRejected(.sessionEnded)
      state.when(action, by: .user(alice, session: id(29))).thenRejected(.sessionEnded)
      state.when(action, by: .user(alice, session: otherLogin)).thenAccepted()
    }
  }

  @Test("nothing but sessions grows, and open ones are counted right")
  func countsOpenSessions() {
    var events: [UserEvent] = [.account(.registered(.named()))]
    for number: UInt64 in 0..<300 {
      events.append(.sessions(.started(id(1000 + number), device: phone)))
      events += (2...5).map { .sessions(.refreshed(id(1000 + number), generation: $0)) }
      if number.isMultiple(of: 3) { events.append(.sessions(.ended(id(1000 + number), .loggedOut))) }
    }
    guard case .registered(let user) = given(UserDecider.self, events).state else {
      Issue.record("not registered")
      return
    }
    #expect(user.sessions.count == 300)
    #expect(user.openSessions.count == 200)
    let restored = User(
      profile: user.profile, email: user.email, externalID: user.externalID, credential: user.credential,
      registrationFingerprint: user.registrationFingerprint, registered: user.registered, sessions: user.sessions,
      devices: user.devices)
    #expect(restored == user)
  }
}
