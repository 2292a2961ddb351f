import ChatDomain
import ChatPrimitives
import Testing

@Suite("Devices")
struct UserDeviceSpecs {
  private let token = PushToken(provider: .apns, token: "a1b2")
  private let newToken = PushToken(provider: .apns, token: "c3d4")

  private func setting(_ device: DeviceID = phone, _ description: DeviceDescription = .named()) -> UserCommand {
    .devices(.set(device, description))
  }

  @Test("a device is registered, then updated, even to what it was")
  func sets() {
    given(UserDecider.self, [.account(.registered(.named()))]).when(setting(), by: .user(alice))
      .thenRecorded(.devices(.registered(phone, .named())))
    given(UserDecider.self, aliceAtHome).when(setting(), by: .user(alice, session: login))
      .thenRecorded(.devices(.updated(phone, .named())))
    given(UserDecider.self, aliceAtHome + [.devices(.removed(phone))]).when(setting(), by: .user(alice))
      .thenRecorded(.devices(.registered(phone, .named())))
    given(UserDecider.self, aliceAtHome).when(setting(), by: .user(bob)).thenRejected(.forbidden)
  }

  @Test("each of a device's texts has a longest form", arguments: [(127, true), (128, true), (129, false)])
  func textLength(bytes: Int, isAccepted: Bool) {
    let text = String(repeating: "d", count: bytes)
    for description: DeviceDescription in [.named(text), .named(type: text), .named(osVersion: text)] {
      let outcome = given(UserDecider.self, aliceAtHome).when(setting(phone, description), by: .user(alice))
      if isAccepted { outcome.thenAccepted() } else { outcome.thenRejected(.deviceTextTooLong) }
    }
  }

  @Test(
    "each of a device's tokens has a shortest and a longest form",
    arguments: [(0, .pushTokenEmpty), (1, nil), (4095, nil), (4096, nil), (4097, .pushTokenTooLong)]
      as [(Int, Rejection?)])
  func tokenLength(bytes: Int, rejection: Rejection?) {
    for provider in PushProvider.allCases {
      let long = PushToken(provider: provider, token: String(repeating: "t", count: bytes))
      let outcome = given(UserDecider.self, aliceAtHome)
        .when(setting(phone, .named(tokens: [token, long])), by: .user(alice))
      if let rejection { outcome.thenRejected(rejection) } else { outcome.thenAccepted() }
    }
  }

  @Test("a device's token has no control characters", arguments: ["\0", "t\n", "t\u{7f}", "\u{85}t"])
  func controlCharacters(text: String) {
    for provider in PushProvider.allCases {
      let malformed = PushToken(provider: provider, token: text)
      given(UserDecider.self, aliceAtHome)
        .when(setting(phone, .named(tokens: [malformed])), by: .user(alice)).thenRejected(.pushTokenMalformed)
    }
  }

  @Test(
    "the language of a device has the form of a language tag",
    arguments: [
      ("de", true), ("pt-BR", true), ("zh-Hant-TW", true), ("x-klingon", true), ("d1", false), ("", false),
      ("de-", false), ("-de", false), ("de_DE", false), ("de-Deutschla", false), ("dé", false), ("de ", false),
      (String(repeating: "a-", count: 17) + "a", true), (String(repeating: "a-", count: 17) + "aa", false),
    ])
  func language(text: String, isAccepted: Bool) {
    let outcome = given(UserDecider.self, aliceAtHome).when(setting(phone, .named(language: text)), by: .user(alice))
    if isAccepted { outcome.thenAccepted() } else { outcome.thenRejected(.languageMalformed) }
  }

  @Test("a device without the newer fields has the fingerprint that it had before they existed")
  func fingerprintOfOldFields() {
    let description = DeviceDescription.named(tokens: [token])
    let old = Fingerprint(
      .text("device.set"), .id(phone.uuid), .text(description.name), .text(description.type),
      .text(description.osVersion), .number(1), .text("a1b2"))
    #expect(setting(phone, description).fingerprint(by: alice) == old)
  }

  @Test("how many devices a user has", arguments: [(49, true), (50, false), (51, false)])
  func deviceCount(count: Int, isAccepted: Bool) {
    let devices = (0..<count).map { UserEvent.devices(.registered(id(1000 + UInt64($0)), .named())) }
    let state = given(UserDecider.self, [.account(.registered(.named()))] + devices)
    let outcome = state.when(setting(), by: .user(alice))
    if isAccepted { outcome.thenAccepted() } else { outcome.thenRejected(.tooManyDevices) }
    state.when(setting(id(1000)), by: .user(alice)).thenAccepted()
  }

  @Test("only a service removes an invalid token from its device, unless it was replaced")
  func invalidates() {
    let command = UserCommand.devices(.invalidateToken(phone, token))
    let events = aliceAtHome + [.devices(.updated(phone, .named(tokens: [token])))]
    given(UserDecider.self, events).when(command, by: .service()).thenRecorded(
      .devices(.tokenInvalidated(phone, token)))
    given(UserDecider.self, events).when(command, by: .user(alice)).thenRejected(.serviceOnly)
    for later: UserEvent in [
      .devices(.updated(phone, .named(tokens: [newToken]))), .devices(.tokenInvalidated(phone, token)),
      .devices(.removed(phone)),
    ] {
      given(UserDecider.self, events + [later]).when(command, by: .service()).thenRejected(.deviceNotFound)
    }
    let mixed = given(
      UserDecider.self,
      events + [
        .devices(.updated(phone, .named(tokens: [token, newToken]))), .devices(.tokenInvalidated(phone, token)),
      ])
    guard case .registered(let user) = mixed.state else {
      Issue.record("not registered")
      return
    }
    #expect(
      user.devices[phone]
        == Device(
          description: .named(tokens: [newToken]), registered: .at(2), revision: LogPosition(UInt64(events.count) + 2)))
  }

  @Test("tokens are compared by bytes, as in the read models")
  func comparesBytes() {
    let composed = PushToken(provider: .fcm, token: "\u{e9}")
    let decomposed = PushToken(provider: .fcm, token: "e\u{301}")
    #expect(composed.token == decomposed.token && composed != decomposed)
    #expect(Set([composed, decomposed]).count == 2)
    let state = given(UserDecider.self, aliceAtHome + [.devices(.updated(phone, .named(tokens: [composed])))])
    state.when(.devices(.invalidateToken(phone, decomposed)), by: .service())
      .thenRejected(.deviceNotFound)
    state.when(.devices(.invalidateToken(phone, composed)), by: .service()).thenAccepted()
  }

  @Test("a device without an open session loses its tokens, however the last session ended")
  func silenced() {
    let described = DeviceDescription.named(tokens: [token, newToken])
    let events = aliceAtHome + [.devices(.updated(phone, described))]
    let silenced = UserEvent.devices(.updated(phone, .named()))
    let logout = UserCommand.sessions(.end(login, .loggedOut))
    given(UserDecider.self, events).when(logout, by: .user(alice, session: login))
      .thenRecorded(.sessions(.ended(login, .loggedOut)), silenced)
    given(UserDecider.self, events).when(.sessions(.endMany(.all)), by: .service(for: alice))
      .thenRecorded(.sessions(.ended(login, .allLoggedOut)), silenced)
    given(UserDecider.self, events).when(.account(.disable), by: .service(for: alice))
      .thenRecorded(.account(.disabled), .sessions(.ended(login, .accountDisabled)), silenced)
    let reset = UserCommand.logins(.resetPassword(.version(2), issuedFor: 1))
    given(UserDecider.self, events).when(reset, by: .user(alice))
      .thenRecorded(.logins(.credentialSet(.version(2))), .sessions(.ended(login, .passwordChanged)), silenced)
    let refreshed = events + [.sessions(.refreshed(login, generation: 2)), .sessions(.refreshed(login, generation: 3))]
    let reuse = UserCommand.sessions(.refresh(login, presented: 1, oldest: nil))
    given(UserDecider.self, refreshed).when(reuse, by: .user(alice))
      .thenRecorded(.sessions(.ended(login, .refreshTokenReused)), silenced)
  }

  @Test("a session that logs itself out takes the tokens, though an older one of the device was never ended")
  func silencedByItself() {
    let events =
      aliceAtHome + [
        .devices(.updated(phone, .named(tokens: [token]))), .sessions(.started(otherLogin, device: phone)),
      ]
    let logout = UserCommand.sessions(.end(otherLogin, .loggedOut))
    given(UserDecider.self, events).when(logout, by: .user(alice, session: otherLogin))
      .thenRecorded(.sessions(.ended(otherLogin, .loggedOut)), .devices(.updated(phone, .named())))
  }

  @Test(
    "another open session of the device keeps its tokens, and a device without sessions has nothing to lose them by")
  func notSilenced() {
    let described = DeviceDescription.named(tokens: [token])
    let events = aliceAtHome + [.devices(.updated(phone, described)), .devices(.registered(tablet, described))]
    let logout = UserCommand.sessions(.end(login, .loggedOut))
    let again = events + [.sessions(.started(otherLogin, device: phone))]
    given(UserDecider.self, again).when(logout, by: .user(alice)).thenRecorded(.sessions(.ended(login, .loggedOut)))
    given(UserDecider.self, again).when(logout, by: .user(alice, session: otherLogin))
      .thenRecorded(.sessions(.ended(login, .loggedOut)))
    let elsewhere = events + [.sessions(.started(otherLogin, device: nil))]
    given(UserDecider.self, elsewhere).when(.sessions(.endMany(.all)), by: .service(for: alice))
      .thenRecorded(
        .sessions(.ended(login, .allLoggedOut)), .sessions(.ended(otherLogin, .allLoggedOut)),
        .devices(.updated(phone, .named())))
    given(UserDecider.self, events).when(.devices(.remove(phone)), by: .user(alice))
      .thenRecorded(.devices(.removed(phone)), .sessions(.ended(login, .deviceRemoved)))
    given(UserDecider.self, aliceAtHome).when(logout, by: .user(alice)).thenRecorded(
      .sessions(.ended(login, .loggedOut)))
  }

  @Test("a session that is superseded by one of the same device does not remove its tokens")
  func supersededByItself() {
    let events =
      aliceAtHome + [.devices(.updated(phone, .named(tokens: [token])))]
      + (1..<UInt64(Limits.sessionsPerUser)).map { .sessions(.started(id(1000 + $0), device: nil)) }
    let start = { (device: DeviceID?) in
      UserCommand.sessions(.start(otherLogin, device: device, proof: .password(version: 1)))
    }
    given(UserDecider.self, events).when(start(phone), by: .user(alice))
      .thenRecorded(.sessions(.started(otherLogin, device: phone)), .sessions(.ended(login, .superseded)))
    given(UserDecider.self, events).when(start(tablet), by: .user(alice))
      .thenRecorded(
        .sessions(.started(otherLogin, device: tablet)), .sessions(.ended(login, .superseded)),
        .devices(.updated(phone, .named())))
  }

  @Test("a removed device takes its open sessions with it, in the order of their IDs")
  func removes() {
    let events: [UserEvent] =
      aliceAtHome + [
        .devices(.registered(tablet, .named("tablet"))), .sessions(.started(id(29), device: phone)),
        .sessions(.started(id(22), device: phone)), .sessions(.started(id(23), device: tablet)),
        .sessions(.started(id(24), device: nil)), .sessions(.started(id(25), device: phone)),
        .sessions(.ended(id(25), .loggedOut)),
      ]
    let command = UserCommand.devices(.remove(phone))
    given(UserDecider.self, events).when(command, by: .user(alice, session: id(23))).thenRecorded(
      .devices(.removed(phone)), .sessions(.ended(login, .deviceRemoved)), .sessions(.ended(id(22), .deviceRemoved)),
      .sessions(.ended(id(29), .deviceRemoved)))
    given(UserDecider.self, [.account(.registered(.named()))]).when(command, by: .user(alice)).thenRejected(
      .deviceNotFound)
  }
}
