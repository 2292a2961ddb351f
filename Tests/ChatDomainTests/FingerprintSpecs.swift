import ChatDomain
import ChatPrimitives
import Testing

/// That a command's fingerprint is that of its first event is checked wherever a spec decides: see `Given.when`.
@Suite("Fingerprints")
struct FingerprintSpecs {
  /// Computed with Python's hashlib from the description of `Fingerprint`: each field led by its length as eight bytes,
  /// little-endian, a missing one by the length −1.
  @Test("are what their description says")
  func knownAnswers() {
    #expect(Fingerprint(.text("tea"), .number(258), .text(nil)).bytes.text == "e7e2bfe6-26ff-d8ae-0ca5-8f6c240f670c")
    #expect(
      Fingerprint(.id(UUIDBytes(high: 0x0001_0203_0405_0607, low: 0x0809_0a0b_0c0d_0e0f)), .bytes([])).bytes.text
        == "8462aca2-c857-a459-1157-8c1480b218eb")
    #expect(Fingerprint([]) == Fingerprint())
  }

  @Test("tell lists apart that hold the same bytes")
  func fieldsAreSeparate() {
    let lists: [Fingerprint] = [
      Fingerprint(.text("ab"), .text("c")), Fingerprint(.text("a"), .text("bc")), Fingerprint(.text("abc")),
      Fingerprint(.text("abc"), .text("")), Fingerprint(.text("abc"), .text(nil)), Fingerprint(.text("")),
      Fingerprint(.text(nil)), Fingerprint([]),
    ]
    #expect(Set(lists).count == lists.count)
  }

  @Test("tell every two commands of a user apart")
  func userCommands() {
    let token = PushToken(provider: .apns, token: "a1")
    let actions: [UserAction] = [
      .register(.named()), .register(.named("Al")), .register(.named(email: "al@example.org")),
      .register(.named(externalID: "a-1")), .register(.named(credential: nil)),
      .changeProfile(ProfileEdit(nickname: "Al")),
      .changeProfile(ProfileEdit(nickname: "Ali")), .changeProfile(ProfileEdit(picture: .remove)),
      .changeProfile(ProfileEdit(picture: .set(id(80)))), .changeProfile(ProfileEdit(picture: .set(id(81)))),
      .changeProfile(ProfileEdit(nickname: "Al", picture: .remove)), .setEmail("al@example.org", checked: 1),
      .setEmail("ali@example.org", checked: 1), .changePassword(.version(2), checked: 1),
      .changePassword(.other(2), checked: 1), .changePassword(.version(3), checked: 2),
      .linkIdentity(.of("a"), proof: .service),
      .linkIdentity(.of("a", issuer: "https://other.example.org"), proof: .service),
      .linkIdentity(.of("b"), proof: .service), .unlinkIdentity(.of("a")), .unlinkIdentity(.of("b")), .disable, .enable,
      .endSessions(.others), .endSessions(.all), .startSession(login, device: phone, proof: .password(version: 1)),
      .startSession(login, device: nil, proof: .password(version: 1)),
      .startSession(otherLogin, device: nil, proof: .password(version: 1)),
      .refreshSession(login, presented: 1, oldest: nil),
      .refreshSession(login, presented: 2, oldest: nil), .refreshSession(otherLogin, presented: 1, oldest: nil),
      .endSession(login, .loggedOut),
      .endSession(login, .deviceRemoved), .endSession(otherLogin, .loggedOut), .setDevice(phone, .named()),
      .setDevice(tablet, .named()), .setDevice(phone, .named("mine")), .setDevice(phone, .named(type: nil)),
      .setDevice(phone, .named(osVersion: nil)), .setDevice(phone, .named(tokens: [token])),
      .setDevice(phone, .named(tokens: [PushToken(provider: .fcm, token: "a1")])),
      .setDevice(phone, .named(tokens: [token, token])), .invalidatePushToken(phone, token),
      .invalidatePushToken(phone, PushToken(provider: .fcm, token: "a1")), .removeDevice(phone), .removeDevice(tablet),
      .setPreferences(UserPreferences(sharesReadMarkers: true)),
      .setPreferences(UserPreferences(sharesReadMarkers: false)),
    ]
    #expect(Set(actions.map { UserCommand(alice, $0).fingerprint }).count == actions.count)
  }

  @Test("tell every two commands of a room apart")
  func roomCommands() {
    let target = KnownMessage.of(alice, at: 6)
    let commands: [RoomCommand] = [
      .create(.named()), .create(.named("coffee")), .create(.named("tea", .direct)), .create(.named(by: nil)),
      .edit(RoomEdit(name: "tea")), .edit(RoomEdit(name: "coffee")), .archive, .createInvite(.giving()),
      .createInvite(.giving(.administrator)), .createInvite(.giving(id: id(31))), .createInvite(.giving(until: dawn)),
      .createInvite(.giving(uses: 1)), .revokeInvite(link), .revokeInvite(id(31)), .acceptInvite(link),
      .acceptInvite(id(31)), .join, .addMember(dave), .addMember(carol), .removeMember(dave), .removeMember(carol),
      .leave, .mute(until: nil), .mute(until: noon), .mute(until: dawn), .send(by: alice), .send("hi", by: alice),
      .send(by: bob), .editMessage(hello, .plain("hi"), target: target),
      .editMessage(hello, .plain("ho"), target: target),
      .editMessage(id(41), .plain("hi"), target: target), .deleteMessage(hello, target: target),
      .deleteMessage(id(41), target: target), .moveReadMarker(hello, target: target),
      .moveReadMarker(id(41), target: target), .markUnread(hello, target: target), .markUnread(id(41), target: target),
      .schedule(), .schedule("hi"), .schedule(by: bob), .schedule(at: dawn), .reschedule(text: "hi"),
      .reschedule(text: "ho"), .reschedule(text: "hi", at: noon), .reschedule(at: noon), .reschedule(id(41), at: noon),
      .changeScheduledMessage(
        hello, ScheduledMessageEdit(text: "hi", mentions: Mentions(users: [bob])), prior: nil),
      .cancelScheduledMessage(hello, prior: nil), .cancelScheduledMessage(id(41), prior: nil),
      .sendScheduledMessage(hello, .saying(), revision: .first, references: nil),
      .sendScheduledMessage(id(41), .saying(), revision: .first, references: nil),
      .restore, .delete, .changeRole(dave, .member), .changeRole(dave, .administrator), .changeRole(carol, .member),
      .transfer(to: dave), .transfer(to: carol), .ban(dave), .ban(carol), .unban(dave), .unban(carol),
      .silence(dave, until: noon), .silence(dave, until: nil), .silence(carol, until: noon),
      .react(hello, "👍", target: target),
      .react(id(41), "👍", target: target), .react(hello, "👎", target: target), .unreact(hello, "👍", target: target),
      .unreact(id(41), "👍", target: target), .pin(hello, target: target), .pin(id(41), target: target),
      .unpin(hello, target: target), .unpin(id(41), target: target),
      .setThreadFollowing(hello, true, target: target), .setThreadFollowing(hello, false, target: target),
      .setThreadFollowing(id(41), true, target: target),
      .moveThreadMarker(hello, root: id(41), target: target, rootFacts: target),
      .moveThreadMarker(id(41), root: hello, target: target, rootFacts: target),
      .editMessage(hello, MessageEdit(text: "hi", mentions: Mentions(users: [bob])), target: target),
      .editMessage(hello, MessageEdit(text: "hi", mentions: Mentions(everyone: true)), target: target),
      .send(.plain("hello"), by: alice, MessageReferences(thread: id(41))),
      .send(.plain("hello"), by: alice, MessageReferences(thread: id(42))),
    ]
    #expect(Set(commands.map(\.fingerprint)).count == commands.count)
  }

  @Test("leave out what a retry may change")
  func leaveOut() {
    #expect(Registration.named(key: 1).fingerprint == Registration.named(key: 2).fingerprint)
    var rehashed = Invite.giving()
    rehashed.tokenHash = [1]
    #expect(rehashed.fingerprint == Invite.giving().fingerprint)
    let target = KnownMessage.of(alice, at: 6)
    #expect(
      RoomCommand.deleteMessage(hello, target: target).fingerprint
        == RoomCommand.deleteMessage(hello, target: nil).fingerprint)
  }

  @Test("bind a key to one stream, and an event's is its command's in that stream")
  func scoped() {
    let (tea, coffee): (RoomID, RoomID) = (id(80), id(81))
    let command = RoomCommand.edit(RoomEdit(name: "tea"))
    let inTea = ChatEvent.room(tea, .lifecycle(.edited(RoomEdit(name: "tea")))).commandFingerprint
    #expect(inTea == command.fingerprint.scoped(to: tea.uuid))
    #expect(inTea != command.fingerprint.scoped(to: coffee.uuid))
    #expect(inTea != command.fingerprint)
    let removal = UserCommand(alice, .removeDevice(phone))
    #expect(
      ChatEvent.user(alice, .devices(.removed(phone))).commandFingerprint == removal.fingerprint.scoped(to: alice.uuid))
    #expect(ChatEvent.room(tea, .erased(kind: 1)).commandFingerprint == nil)
    #expect(ChatEvent.server(.erased(kind: 1)).commandFingerprint == nil)
  }

  @Test("are gone with an erased payload")
  func erased() {
    #expect(UserEvent.erased(kind: 1).fingerprint == nil)
    #expect(RoomEvent.erased(kind: 1).fingerprint == nil)
    #expect(RoomEvent.messages(.sent(hello, author: alice, thread: nil, nil)).fingerprint == nil)
    #expect(RoomEvent.messages(.edited(hello, at: .room(1), nil)).fingerprint == nil)
    #expect(UserEvent.sessions(.refreshed(login, generation: 0)).fingerprint != nil)
  }
}
