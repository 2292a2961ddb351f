import ChatDomain
import ChatPrimitives
import Testing

@Suite("Accounts")
struct UserAccountSpecs {
  private func registering(_ registration: Registration, by act: Act = .nobody()) -> Outcome<UserDecider> {
    given(UserDecider.self, []).when(UserCommand(alice, .register(registration)), by: act)
  }

  @Test("anyone registers with e-mail and password")
  func registers() {
    registering(.named()).thenRecorded(.registered(.named()))
    registering(.named(), by: .user(alice)).thenRecorded(.registered(.named()))
    registering(.named(), by: .user(bob)).thenRejected(.forbidden)
  }

  @Test("the same registration again is the first one, whatever its commitment key and whatever happened since")
  func registersOnce() {
    let state = given(UserDecider.self, [.registered(.named()), .profileChanged(ProfileEdit(nickname: "Al"))])
    state.when(UserCommand(alice, .register(.named(key: 2))), by: .nobody()).thenAlreadyDone(at: 1)
    state.when(UserCommand(alice, .register(.named("Al"))), by: .nobody()).thenRejected(.idInUse)
    // Its own address is taken by then, and the retry is one all the same.
    state.with(TestDirectory(emails: ["alice@example.org": alice]))
      .when(UserCommand(alice, .register(.named())), by: .nobody()).thenAlreadyDone(at: 1)
  }

  @Test("e-mail and external ID are unique")
  func isUnique() {
    let taken = given(UserDecider.self, []).with(
      TestDirectory(emails: ["alice@example.org": bob], externalIDs: ["a-1": bob]))
    taken.when(UserCommand(alice, .register(.named())), by: .nobody()).thenRejected(.emailInUse)
    taken.when(UserCommand(alice, .register(.named(email: "a@example.org", externalID: "a-1"))), by: .service())
      .thenRejected(.externalIDInUse)
  }

  @Test("only a service vouches for who has no password, or gives an external ID")
  func vouches() {
    let imported = Registration.named(email: nil, externalID: "a-1", credential: nil)
    registering(imported, by: .service()).thenRecorded(.registered(imported))
    registering(imported).thenRejected(.serviceOnly)
    registering(.named(externalID: "a-1")).thenRejected(.serviceOnly)
    registering(.named(email: nil, credential: nil)).thenRejected(.credentialIncomplete)
    registering(.named(credential: nil), by: .service()).thenRejected(.credentialIncomplete)
    // A password alone makes a guest.
    registering(.named(email: nil)).thenRecorded(.registered(.named(email: nil)))
  }

  @Test(
    "the length of a nickname, in bytes",
    arguments: [(1, nil), (127, nil), (128, nil), (129, .nicknameTooLong)] as [(Int, Rejection?)])
  func nicknameLength(bytes: Int, rejection: Rejection?) {
    let nickname = String(repeating: "n", count: bytes)
    let changed = given(UserDecider.self, aliceAtHome)
      .when(UserCommand(alice, .changeProfile(ProfileEdit(nickname: nickname))), by: .user(alice))
    if let rejection {
      registering(.named(nickname)).thenRejected(rejection)
      changed.thenRejected(rejection)
    } else {
      registering(.named(nickname)).thenAccepted()
      changed.thenRecorded(.profileChanged(ProfileEdit(nickname: nickname)))
    }
  }

  @Test("a nickname is not empty, and 43 syllables of three bytes are too long")
  func nicknameForm() {
    registering(.named("")).thenRejected(.nicknameEmpty)
    registering(.named(String(repeating: "한", count: 42))).thenAccepted()
    registering(.named(String(repeating: "한", count: 43))).thenRejected(.nicknameTooLong)
  }

  @Test(
    "an e-mail address has one @ between two parts, and no space",
    arguments: [
      "", "@", "a@", "@b", "a", "a@b@c", "a b@c", "a@b c", "a@b\n", "a@\u{0}b", "a@\u{a0}b", "\ta@b", "a@@b",
    ])
  func malformedEmail(email: String) {
    registering(.named(email: email)).thenRejected(.emailMalformed)
  }

  @Test("the length of an e-mail address", arguments: [(253, true), (254, true), (255, false)])
  func emailLength(bytes: Int, isAccepted: Bool) {
    let outcome = registering(.named(email: String(repeating: "e", count: bytes - 2) + "@b"))
    if isAccepted { outcome.thenAccepted() } else { outcome.thenRejected(.emailMalformed) }
  }

  @Test("the length of an external ID", arguments: [(0, false), (1, true), (255, true), (256, true), (257, false)])
  func externalIDLength(bytes: Int, isAccepted: Bool) {
    let outcome = registering(.named(externalID: String(repeating: "x", count: bytes)), by: .service())
    if isAccepted { outcome.thenAccepted() } else { outcome.thenRejected(.externalIDMalformed) }
  }

  @Test("an external ID has no control character")
  func externalIDForm() {
    registering(.named(externalID: "a\u{1b}b"), by: .service()).thenRejected(.externalIDMalformed)
    registering(.named(externalID: "|trey| 한"), by: .service()).thenAccepted()
  }

  @Test("a profile is changed by its user alone, even to what it was")
  func changesProfile() {
    let state = given(UserDecider.self, aliceAtHome)
    let command = UserCommand(alice, .changeProfile(ProfileEdit(nickname: "Alice")))
    state.when(command, by: .user(alice, session: login)).thenRecorded(.profileChanged(ProfileEdit(nickname: "Alice")))
    state.when(command, by: .service()).thenRecorded(.profileChanged(ProfileEdit(nickname: "Alice")))
    state.when(command, by: .user(bob)).thenRejected(.forbidden)
    state.when(command, by: .nobody()).thenRejected(.forbidden)
    given(UserDecider.self, []).when(command, by: .user(alice)).thenRejected(.userNotFound)
    given(UserDecider.self, []).when(command, by: .user(bob)).thenRejected(.forbidden)
  }

  @Test("a profile's change is seen")
  func evolvesProfile() throws {
    let state = given(UserDecider.self, [.registered(.named()), .profileChanged(ProfileEdit(nickname: "Al"))]).state
    guard case .registered(let user) = state else {
      Issue.record("not registered")
      return
    }
    #expect(user.profile.nickname == "Al")
    #expect(user.email == "alice@example.org")
    #expect(user.registered == .at(1))
    #expect(user.registrationFingerprint == Registration.named().fingerprint)
  }
}
