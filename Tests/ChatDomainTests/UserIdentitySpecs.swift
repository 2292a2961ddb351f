import ChatDomain
import ChatPrimitives
import Testing

@Suite("Logins elsewhere, guests and disabled accounts")
struct UserIdentitySpecs {
  private let imported = Registration.named(email: nil, credential: nil)

  private func signing(in session: SessionID = otherLogin, as identity: Identity) -> UserCommand {
    .sessions(.start(session, device: nil, proof: .identity(identity)))
  }

  @Test("a first login by an ID token registers and links at once")
  func registersIdentified() {
    let command = UserCommand.account(.registerIdentified(imported, .of("a")))
    let nobody = given(UserDecider.self, [])
    nobody.when(command, by: .user(alice)).thenRecorded(
      .account(.registered(imported)), .logins(.identityLinked(.of("a"))))
    nobody.with(TestDirectory(identities: [.of("a"): bob])).when(command, by: .user(alice))
      .thenRejected(.identityInUse)
    nobody.when(command, by: .user(bob)).thenRejected(.forbidden)
    given(UserDecider.self, aliceAtHome).when(command, by: .user(alice)).thenRejected(.idInUse)
  }

  @Test("the login must be linked still when it is decided")
  func logsIn() {
    let linked = given(UserDecider.self, [.account(.registered(imported)), .logins(.identityLinked(.of("a")))])
    linked.when(signing(as: .of("a")), by: .user(alice)).thenRecorded(.sessions(.started(otherLogin, device: nil)))
    linked.when(signing(as: .of("b")), by: .user(alice)).thenRejected(.credentialsRejected)
    linked.when(signing(as: .of("a", issuer: "https://x")), by: .user(alice)).thenRejected(.credentialsRejected)
  }

  @Test("a login is linked once, to one user", arguments: [19, 20])
  func links(count: Int) {
    let events = (0..<count).map { UserEvent.logins(.identityLinked(.of("subject \($0)"))) }
    let state = given(UserDecider.self, aliceAtHome + events).with(TestDirectory(identities: [.taken: bob]))
    func linking(_ identity: Identity, _ context: CommandContext = .user(alice)) -> Outcome<UserDecider> {
      state.when(.logins(.link(identity, proof: .password(version: 1))), by: context)
    }
    linking(.of("subject 0")).thenAlreadyDone(at: 4)
    // A command with a key is recorded again, so that an event carries the key.
    linking(.of("subject 0"), .user(alice, key: .retried)).thenRecorded(.logins(.identityLinked(.of("subject 0"))))
    linking(.taken).thenRejected(.identityInUse)
    let one = linking(.of("more"))
    if count < Limits.identitiesPerUser {
      one.thenRecorded(.logins(.identityLinked(.of("more"))))
    } else {
      one.thenRejected(.tooManyIdentities)
    }
  }

  @Test("linking a login needs the password, or a linked login if there is no password")
  func provesLinks() {
    func linking(
      _ events: [UserEvent], _ proof: LoginProof, _ context: CommandContext = .user(alice)
    ) -> Outcome<UserDecider> {
      given(UserDecider.self, events).when(.logins(.link(.of("b"), proof: proof)), by: context)
    }
    let social = [UserEvent.account(.registered(imported)), .logins(.identityLinked(.of("a")))]
    linking(aliceAtHome, .password(version: 1)).thenRecorded(.logins(.identityLinked(.of("b"))))
    linking(aliceAtHome, .password(version: 2)).thenRejected(.passwordWrong)
    linking(aliceAtHome, .service).thenRejected(.passwordWrong)
    linking(aliceAtHome + [.logins(.identityLinked(.of("a")))], .identity(.of("a"))).thenRejected(.passwordWrong)
    linking(aliceAtHome, .service, .service(for: alice)).thenRecorded(.logins(.identityLinked(.of("b"))))
    linking(social, .identity(.of("a"))).thenRecorded(.logins(.identityLinked(.of("b"))))
    linking(social, .identity(.of("b"))).thenRejected(.linkedLoginRequired)
    linking(social, .service).thenRejected(.linkedLoginRequired)
    linking(social, .password(version: 1)).thenRejected(.passwordWrong)
    linking([.account(.registered(imported))], .service, .service(for: alice)).thenRecorded(
      .logins(.identityLinked(.of("b"))))
  }

  @Test("a login is unlinked by its position, and the last login method cannot be removed")
  func unlinks() {
    func unlinking(_ events: [UserEvent], _ context: CommandContext = .user(alice)) -> Outcome<UserDecider> {
      given(UserDecider.self, events).when(.logins(.unlink(.of("a"))), by: context)
    }
    let social = [UserEvent.account(.registered(imported)), .logins(.identityLinked(.of("a")))]
    let gone = UserEvent.logins(.identityUnlinked(.of("a"), linked: LogPosition(2)))
    unlinking(social).thenRejected(.lastLogin)
    unlinking(social, .service(for: alice)).thenRecorded(gone)
    unlinking(social + [.logins(.identityLinked(.of("b")))]).thenRecorded(gone)
    unlinking(social + [.logins(.credentialSet(.version(1)))]).thenRecorded(gone)
    unlinking([
      .account(.registered(.named(email: nil, externalID: "a-1", credential: nil))), .logins(.identityLinked(.of("a"))),
    ])
    .thenRecorded(gone)
    unlinking(social + [.logins(.identityLinked(.of("b"))), gone]).thenRejected(.identityNotFound)
    // Erasing the event does not restore the login. Linking again does.
    unlinking(social + [.logins(.identityLinked(.of("b"))), .logins(.identityUnlinked(nil, linked: LogPosition(2)))])
      .thenRejected(.identityNotFound)
    unlinking(social + [.logins(.identityLinked(.of("b"))), gone, .logins(.identityLinked(.of("a")))])
      .thenRecorded(.logins(.identityUnlinked(.of("a"), linked: LogPosition(5))))
  }

  @Test("logins are compared by bytes")
  func bytes() {
    let (composed, decomposed) = (Identity.of("caf\u{e9}"), Identity.of("cafe\u{301}"))
    #expect(composed != decomposed && Set([composed, decomposed]).count == 2)
    let linked = given(UserDecider.self, aliceAtHome + [.logins(.identityLinked(composed))])
    linked.when(.logins(.unlink(decomposed)), by: .user(alice)).thenRejected(.identityNotFound)
    linked.when(.logins(.unlink(composed)), by: .user(alice)).thenAccepted()
  }

  @Test("a user with only a password is a guest")
  func guests() {
    func isGuest(_ events: UserEvent...) -> Bool? {
      guard case .registered(let user) = given(UserDecider.self, events).state else { return nil }
      return user.isGuest
    }
    let guest = UserEvent.account(.registered(.named(email: nil)))
    #expect(isGuest(guest) == true)
    #expect(isGuest(guest, .account(.emailSet("a@example.org"))) == false)
    #expect(isGuest(guest, .logins(.identityLinked(.of("a")))) == false)
    #expect(isGuest(.account(.registered(.named(email: nil, externalID: "a-1")))) == false)
    #expect(isGuest(.account(.registered(imported))) == false)
    #expect(isGuest(.account(.registered(imported)), .logins(.credentialSet(.version(1)))) == true)
    #expect(isGuest(.account(.registered(.named()))) == false)
  }

  @Test("an address needs the password, and is nobody else's")
  func setsEmail() {
    let state = given(UserDecider.self, aliceAtHome).with(TestDirectory(emails: ["b@x": bob, "a@x": alice]))
    func setting(_ email: String, _ checked: UInt32?, _ context: CommandContext = .user(alice)) -> Outcome<UserDecider>
    {
      state.when(.account(.setEmail(email, checked: checked)), by: context)
    }
    setting("new@x", 1).thenRecorded(.account(.emailSet("new@x")))
    setting("a@x", 1).thenRecorded(.account(.emailSet("a@x")))
    setting("b@x", 1).thenRejected(.emailInUse)
    setting("new@x", 2).thenRejected(.passwordWrong)
    setting("new@x", nil).thenRejected(.serviceOnly)
    setting("new@x", nil, .service()).thenRecorded(.account(.emailSet("new@x")))
    setting("new", 1).thenRejected(.emailMalformed)
    given(UserDecider.self, [.account(.registered(imported))])
      .when(.account(.setEmail("a@x", checked: nil)), by: .service()).thenRejected(.passwordMissing)
  }

  @Test("only a service disables an account, which ends every session")
  func disables() {
    let home = aliceAtHome + [.sessions(.started(otherLogin, device: nil))]
    let disable = UserCommand.account(.disable)
    given(UserDecider.self, home).when(disable, by: .service()).thenRecorded(
      .account(.disabled), .sessions(.ended(login, .accountDisabled)), .sessions(.ended(otherLogin, .accountDisabled)))
    given(UserDecider.self, home).when(disable, by: .user(alice)).thenRejected(.serviceOnly)
    given(UserDecider.self, home).when(.account(.enable), by: .user(alice)).thenRejected(.serviceOnly)
    given(UserDecider.self, []).when(disable, by: .service()).thenRejected(.userNotFound)
  }

  @Test("a disabled account starts and refreshes no session, however it is asked")
  func staysOut() {
    let state = given(UserDecider.self, aliceAtHome + [.logins(.identityLinked(.of("a"))), .account(.disabled)])
    for proof: LoginProof in [.password(version: 1), .identity(.of("a"))] {
      state.when(.sessions(.start(otherLogin, device: nil, proof: proof)), by: .user(alice))
        .thenRejected(.accountDisabled)
    }
    state.when(.sessions(.start(otherLogin, device: nil, proof: .service)), by: .service(for: alice))
      .thenRejected(.accountDisabled)
    state.when(.sessions(.refresh(login, presented: 1, oldest: nil)), by: .user(alice))
      .thenRejected(.accountDisabled)
    // Only the right credentials reveal that the account is disabled.
    state.when(
      .sessions(.start(otherLogin, device: nil, proof: .password(version: 2))), by: .user(alice)
    ).thenRejected(.credentialsRejected)
    let enabled = given(UserDecider.self, aliceAtHome + [.account(.disabled), .account(.enabled)])
    enabled.when(
      .sessions(.start(otherLogin, device: nil, proof: .password(version: 1))), by: .user(alice)
    ).thenAccepted()
  }

  @Test("the first of several disablings counts")
  func disabledSince() {
    guard
      case .registered(let user) = given(UserDecider.self, aliceAtHome + [.account(.disabled), .account(.disabled)])
        .state
    else {
      Issue.record("not registered")
      return
    }
    #expect(user.disabled == .at(4))
  }

  @Test("a picture is set and taken away, and the nickname stays")
  func pictures() {
    let picture = UserEvent.account(.profileChanged(ProfileEdit(picture: .set(id(80)))))
    func profile(_ events: UserEvent...) -> Profile? {
      guard case .registered(let user) = given(UserDecider.self, aliceAtHome + events).state else { return nil }
      return user.profile
    }
    #expect(profile(picture) == Profile(nickname: "Alice", picture: id(80)))
    #expect(
      profile(picture, .account(.profileChanged(ProfileEdit(nickname: "Al"))))
        == Profile(nickname: "Al", picture: id(80)))
    #expect(profile(picture, .account(.profileChanged(ProfileEdit(picture: .remove)))) == Profile(nickname: "Alice"))
  }
}
