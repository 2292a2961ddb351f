import ChatDomain
import ChatPrimitives
import Testing

@Suite("Passwords and many sessions")
struct UserPasswordSpecs {
  private let home: [UserEvent] =
    aliceAtHome + [.sessions(.started(otherLogin, device: nil)), .sessions(.started(id(22), device: nil))]

  private func changing(to credential: Credential, checked: UInt32) -> UserCommand {
    .logins(.changePassword(credential, checked: checked))
  }

  private func resetting(to credential: Credential, issuedFor version: UInt32) -> UserCommand {
    .logins(.resetPassword(credential, issuedFor: version))
  }

  @Test("a new password ends all sessions but the one that asks")
  func changes() {
    given(UserDecider.self, home).when(changing(to: .version(2), checked: 1), by: .user(alice, session: login))
      .thenRecorded(
        .logins(.credentialSet(.version(2))), .sessions(.ended(otherLogin, .passwordChanged)),
        .sessions(.ended(id(22), .passwordChanged)))
    given(UserDecider.self, home).when(changing(to: .version(2), checked: 1), by: .service(for: alice)).thenRecorded(
      .logins(.credentialSet(.version(2))), .sessions(.ended(login, .passwordChanged)),
      .sessions(.ended(otherLogin, .passwordChanged)), .sessions(.ended(id(22), .passwordChanged)))
  }

  @Test("a check against an old credential changes nothing")
  func staleCheck() {
    let state = given(UserDecider.self, home + [.logins(.credentialSet(.version(2)))])
    state.when(changing(to: .other(2), checked: 1), by: .user(alice)).thenRejected(.passwordWrong)
    state.when(changing(to: .other(4), checked: 2), by: .user(alice)).thenRejected(.passwordWrong)
    state.when(changing(to: .other(3), checked: 2), by: .user(alice)).thenAccepted()
    // This also applies to a login whose password was checked before the change.
    state.when(
      .sessions(.start(id(23), device: nil, proof: .password(version: 1))), by: .user(alice)
    ).thenRejected(.credentialsRejected)
    given(UserDecider.self, [.account(.registered(.named(email: nil, credential: nil)))])
      .when(changing(to: .version(1), checked: 0), by: .user(alice)).thenRejected(.passwordWrong)
  }

  @Test("the password that is the current one is a repeat")
  func repeats() {
    let state = given(UserDecider.self, home + [.logins(.credentialSet(.version(2)))])
    state.when(changing(to: .version(2), checked: 2), by: .user(alice, session: login)).thenAlreadyDone(at: 6)
    state.when(resetting(to: .version(2), issuedFor: 1), by: .user(alice)).thenAlreadyDone(at: 6)
    given(UserDecider.self, home).when(changing(to: .version(1), checked: 1), by: .user(alice)).thenAlreadyDone(at: 1)
  }

  @Test("a reset ends every session, and its token is good for one version")
  func resets() {
    given(UserDecider.self, home).when(resetting(to: .version(2), issuedFor: 1), by: .user(alice)).thenRecorded(
      .logins(.credentialSet(.version(2))), .sessions(.ended(login, .passwordChanged)),
      .sessions(.ended(otherLogin, .passwordChanged)), .sessions(.ended(id(22), .passwordChanged)))
    given(UserDecider.self, home + [.logins(.credentialSet(.version(2)))])
      .when(resetting(to: .other(2), issuedFor: 1), by: .user(alice)).thenRejected(.passwordResetUsed)
    given(UserDecider.self, home).when(resetting(to: .version(3), issuedFor: 1), by: .user(alice))
      .thenRejected(.passwordResetUsed)
    given(UserDecider.self, [.account(.registered(.named(email: nil, credential: nil)))])
      .when(resetting(to: .version(1), issuedFor: 0), by: .user(alice)).thenRecorded(
        .logins(.credentialSet(.version(1))))
    given(UserDecider.self, home).when(resetting(to: .version(2), issuedFor: 1), by: .user(bob))
      .thenRejected(.forbidden)
  }

  @Test("the other sessions end, or all")
  func endsMany() {
    let state = given(UserDecider.self, home)
    state.when(.sessions(.endMany(.others)), by: .user(alice, session: otherLogin)).thenRecorded(
      .sessions(.ended(login, .othersLoggedOut)), .sessions(.ended(id(22), .othersLoggedOut)))
    state.when(.sessions(.endMany(.all)), by: .user(alice, session: otherLogin)).thenRecorded(
      .sessions(.ended(login, .allLoggedOut)), .sessions(.ended(otherLogin, .allLoggedOut)),
      .sessions(.ended(id(22), .allLoggedOut)))
    state.when(.sessions(.endMany(.all)), by: .user(bob)).thenRejected(.forbidden)
  }

  @Test("where there is nothing to end, the key is remembered all the same")
  func endsNothing() throws {
    let alone = given(UserDecider.self, aliceAtHome)
    let command = UserCommand.sessions(.endMany(.others))
    alone.when(command, by: .user(alice, session: login)).thenAlreadyDone(at: 1)
    var harness = DeciderHarness<UserDecider>(aliceAtHome)
    let context = CommandContext.user(alice, session: login, key: .retried)
    let first = try harness.submit(command, by: context)
    harness.record(.sessions(.started(otherLogin, device: nil)))
    #expect(try harness.submit(command, by: context) == first)
    guard case .registered(let user) = harness.state else {
      Issue.record("not registered")
      return
    }
    #expect(user.openSessions == [login, otherLogin])
  }

  @Test("a key that is the ID of the caller's own session ends no session")
  func keyIsSession() throws {
    var harness = DeciderHarness<UserDecider>(aliceAtHome)
    let context = CommandContext.user(alice, session: login, key: CommandID(login.uuid))
    let first = try harness.submit(.sessions(.endMany(.others)), by: context)
    #expect(try harness.submit(.sessions(.endMany(.others)), by: context) == first)
    guard case .registered(let user) = harness.state else {
      Issue.record("not registered")
      return
    }
    #expect(user.openSessions == [login])
  }

  @Test("a refresh token ages from its last use", arguments: [(-1, true), (0, true), (1, false)])
  func ages(milliseconds: Int64, isGood: Bool) {
    let oldest = Stamp.at(3).time.adding(milliseconds: milliseconds)
    let outcome = given(UserDecider.self, aliceAtHome).when(
      .sessions(.refresh(login, presented: 1, oldest: oldest)), by: .user(alice))
    if isGood { outcome.thenAccepted() } else { outcome.thenRejected(.refreshTokenExpired) }
  }
}

@Suite("Push tokens that move")
struct PushTokenMoveSpecs {
  private let token = PushToken(provider: .apns, token: "a1b2")
  private let other = PushToken(provider: .fcm, token: "a1b2")

  private func taken(_ tokens: [PushToken], held: [PushToken: [DeviceReference]]) -> [ChatEvent] {
    UserDecider.takenTokens(to: phone, .named(tokens: tokens), of: alice, TestDirectory(devices: held))
  }

  @Test("a token leaves every device but the one that has it now")
  func moves() {
    let (own, tabletPlace) = (DeviceReference(user: alice, device: phone), DeviceReference(user: alice, device: tablet))
    let bobs = DeviceReference(user: bob, device: phone)
    #expect(taken([token], held: [:]).isEmpty)
    #expect(taken([token], held: [token: [own]]).isEmpty)
    #expect(taken([], held: [token: [bobs]]).isEmpty)
    #expect(taken([other], held: [token: [bobs]]).isEmpty)
    #expect(
      taken([token, other], held: [token: [own, tabletPlace, bobs], other: [bobs]]) == [
        .user(alice, .devices(.tokenTaken(tablet, .apns))), .user(bob, .devices(.tokenTaken(phone, .apns))),
        .user(bob, .devices(.tokenTaken(phone, .fcm))),
      ])
  }

  @Test("a device keeps its other tokens; in the events of earlier versions it lost them too")
  func keepsOthers() {
    let described = aliceAtHome + [.devices(.updated(phone, .named(tokens: [token, other])))]
    for (loss, left) in [
      (.devices(.tokenTaken(phone, .apns)), [other]), (.devices(.tokenTaken(phone, .webPush)), [token, other]),
      (.devices(.tokenMoved(phone, token)), []), (.devices(.tokenMoved(phone, nil)), []),
    ] as [(UserEvent, [PushToken])] {
      guard case .registered(let user) = given(UserDecider.self, described + [loss]).state else {
        Issue.record("not registered")
        return
      }
      #expect(user.devices[phone]?.description.tokens == left)
    }
  }
}

@Suite("The history of signing keys")
struct SigningKeyHistorySpecs {
  @Test("each position has the generation that signed there, in whatever order rotations become known")
  func generations() {
    for order in [[2, 3], [3, 2]] as [[UInt32]] {
      var history = SigningKeyHistory()
      for generation in order { history.rotate(to: generation, at: .at(UInt64(generation) * 10)) }
      history.rotate(to: 2, at: .at(99))
      let expected: [(UInt64, UInt32)] = [(1, 1), (19, 1), (20, 2), (29, 2), (30, 3), (1000, 3)]
      for (position, generation) in expected {
        #expect(history.generation(at: LogPosition(position)) == generation)
      }
      #expect(history.current == 3)
      #expect(history.retirement(of: 1) == Stamp.at(20).time && history.retirement(of: 2) == Stamp.at(30).time)
      #expect(history.retirement(of: 3) == nil)
      #expect([1, 2, 3].allSatisfy { history.contains($0) } && !history.contains(4) && !history.contains(0))
    }
  }
}
