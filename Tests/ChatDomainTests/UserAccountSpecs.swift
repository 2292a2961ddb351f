import ChatDomain
import ChatPrimitives
import Testing

@Suite("Accounts")
struct UserAccountSpecs {
  private func registering(_ registration: Registration, by context: CommandContext = .nobody()) -> Outcome<UserDecider>
  {
    given(UserDecider.self, []).when(.account(.register(registration)), by: context)
  }

  @Test("anyone registers with e-mail and password")
  func registers() {
    registering(.named()).thenRecorded(.account(.registered(.named())))
    registering(.named(), by: .user(alice)).thenRecorded(.account(.registered(.named())))
    registering(.named(), by: .user(bob)).thenRejected(.forbidden)
  }

  @Test("the same registration again is the first one, whatever its commitment key and whatever happened since")
  func registersOnce() {
    let state = given(
      UserDecider.self, [.account(.registered(.named())), .account(.profileChanged(ProfileEdit(nickname: "Al")))])
    state.when(.account(.register(.named(key: 2))), by: .nobody()).thenAlreadyDone(at: 1)
    state.when(.account(.register(.named("Al"))), by: .nobody()).thenRejected(.idInUse)
    // Its own address is in use by then, but the retry is still recognized.
    state.with(TestDirectory(emails: ["alice@example.org": alice]))
      .when(.account(.register(.named())), by: .nobody()).thenAlreadyDone(at: 1)
  }

  @Test("only a repeated registration with the right password reveals that the account is disabled")
  func repeatsOfDisabled() {
    let state = given(UserDecider.self, aliceAtHome + [.account(.disabled)])
    state.when(.account(.register(.named())), by: .nobody()).thenRejected(.accountDisabled)
    state.when(.account(.register(.named("Al"))), by: .nobody()).thenRejected(.idInUse)
    state.when(.account(.register(.named(credential: .other(1)))), by: .nobody()).thenRejected(.idInUse)
    state.when(.account(.register(.named())), by: .service()).thenAlreadyDone(at: 1)
  }

  @Test("without a password nobody but a service repeats a registration")
  func repeatsWithoutPassword() {
    let imported = Registration.named(email: nil, credential: nil)
    let state = given(UserDecider.self, [.account(.registered(imported))])
    state.when(.account(.register(imported)), by: .nobody()).thenRejected(.credentialIncomplete)
    state.when(.account(.register(imported)), by: .service()).thenAlreadyDone(at: 1)
  }

  @Test("e-mail and external ID are unique")
  func isUnique() {
    let taken = given(UserDecider.self, []).with(
      TestDirectory(emails: ["alice@example.org": bob], externalIDs: ["a-1": bob]))
    taken.when(.account(.register(.named())), by: .nobody()).thenRejected(.emailInUse)
    taken.when(.account(.register(.named(email: "a@example.org", externalID: "a-1"))), by: .service())
      .thenRejected(.externalIDInUse)
  }

  @Test("only a service registers users without a password or with an external ID")
  func vouches() {
    let imported = Registration.named(email: nil, externalID: "a-1", credential: nil)
    registering(imported, by: .service()).thenRecorded(.account(.registered(imported)))
    registering(imported).thenRejected(.serviceOnly)
    registering(.named(externalID: "a-1")).thenRejected(.serviceOnly)
    registering(.named(email: nil, credential: nil)).thenRejected(.credentialIncomplete)
    registering(.named(credential: nil), by: .service()).thenRejected(.credentialIncomplete)
    // An account with only a password is a guest.
    registering(.named(email: nil)).thenRecorded(.account(.registered(.named(email: nil))))
  }

  @Test(
    "the length of a nickname, in bytes",
    arguments: [(1, nil), (127, nil), (128, nil), (129, .nicknameTooLong)] as [(Int, Rejection?)])
  func nicknameLength(bytes: Int, rejection: Rejection?) {
    let nickname = String(repeating: "n", count: bytes)
    let changed = given(UserDecider.self, aliceAtHome)
      .when(.account(.changeProfile(ProfileEdit(nickname: nickname))), by: .user(alice))
    if let rejection {
      registering(.named(nickname)).thenRejected(rejection)
      changed.thenRejected(rejection)
    } else {
      registering(.named(nickname)).thenAccepted()
      changed.thenRecorded(.account(.profileChanged(ProfileEdit(nickname: nickname))))
    }
  }

  @Test("a nickname is not empty, and 43 syllables of three bytes are too long")
  func nicknameForm() {
    registering(.named("")).thenRejected(.nicknameEmpty)
    registering(.named(String(repeating: "한", count: 42))).thenAccepted()
    registering(.named(String(repeating: "한", count: 43))).thenRejected(.nicknameTooLong)
  }

  @Test(
    "a nickname is visible and has no text direction controls",
    arguments: [
      ("\u{200b}", .nicknameEmpty), ("\u{3164}", .nicknameEmpty), (" \u{2003}", .nicknameEmpty),
      ("\u{301}", .nicknameEmpty), ("\u{202e}", .nicknameEmpty), ("a\u{0}", .nameMalformed),
      ("a\u{61c}", .nameMalformed), ("a\u{200d}", nil), ("a\u{200e}", .nameMalformed), ("a\u{200f}", .nameMalformed),
      ("a\u{2029}", nil), ("a\u{202a}", .nameMalformed), ("a\u{202e}", .nameMalformed), ("a\u{202f}", nil),
      ("a\u{2065}", nil), ("a\u{2066}", .nameMalformed), ("a\u{2069}", .nameMalformed), ("a\u{206a}", nil),
      ("\u{1f469}\u{200d}\u{1f467}", nil), ("\u{646}\u{200c}\u{647}", nil), ("\u{5d0}", nil),
    ] as [(String, Rejection?)])
  func nicknameIsVisible(nickname: String, rejection: Rejection?) {
    if let rejection {
      registering(.named(nickname)).thenRejected(rejection)
    } else {
      registering(.named(nickname)).thenAccepted()
    }
    // A registration that is already recorded can still be repeated.
    given(UserDecider.self, [.account(.registered(.named(nickname)))])
      .when(.account(.register(.named(nickname))), by: .nobody()).thenAlreadyDone(at: 1)
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
    let command = UserCommand.account(.changeProfile(ProfileEdit(nickname: "Alice")))
    state.when(command, by: .user(alice, session: login)).thenRecorded(
      .account(.profileChanged(ProfileEdit(nickname: "Alice"))))
    state.when(command, by: .service()).thenRecorded(.account(.profileChanged(ProfileEdit(nickname: "Alice"))))
    state.when(command, by: .user(bob)).thenRejected(.forbidden)
    state.when(command, by: .nobody()).thenRejected(.forbidden)
    given(UserDecider.self, []).when(command, by: .user(alice)).thenRejected(.userNotFound)
    given(UserDecider.self, []).when(command, by: .user(bob)).thenRejected(.forbidden)
  }

  @Test("a profile's change is seen")
  func evolvesProfile() throws {
    let state = given(
      UserDecider.self, [.account(.registered(.named())), .account(.profileChanged(ProfileEdit(nickname: "Al")))]
    ).state
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
