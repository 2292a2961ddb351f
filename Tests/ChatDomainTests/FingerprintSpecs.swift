import ChatDomain
import ChatPrimitives
import Testing

/// `Given.when` checks in every spec that the fingerprint of a command equals that of its first event.
@Suite("Fingerprints")
struct FingerprintSpecs {
  /// Computed with Python's hashlib from the description of `Fingerprint`: the length of each field precedes it as
  /// eight bytes, little-endian. The length of a missing field is −1.
  @Test("match known values")
  func knownFingerprints() {
    #expect(Fingerprint(.text("tea"), .number(258), .text(nil)).bytes.text == "e7e2bfe6-26ff-d8ae-0ca5-8f6c240f670c")
    #expect(
      Fingerprint(.id(UUIDBytes(high: 0x0001_0203_0405_0607, low: 0x0809_0a0b_0c0d_0e0f)), .bytes([])).bytes.text
        == "8462aca2-c857-a459-1157-8c1480b218eb")
    #expect(Fingerprint([]) == Fingerprint())
  }

  @Test("differ for lists that consist of the same bytes")
  func fieldsAreSeparate() {
    let lists: [Fingerprint] = [
      Fingerprint(.text("ab"), .text("c")), Fingerprint(.text("a"), .text("bc")), Fingerprint(.text("abc")),
      Fingerprint(.text("abc"), .text("")), Fingerprint(.text("abc"), .text(nil)), Fingerprint(.text("")),
      Fingerprint(.text(nil)), Fingerprint([]),
    ]
    #expect(Set(lists).count == lists.count)
  }

  @Test("differ for every two commands of a user")
  func userCommands() {
    let token = PushToken(provider: .apns, token: "a1")
    let commands: [UserCommand] = [
      .account(.register(.named())), .account(.register(.named("Al"))),
      .account(.register(.named(email: "al@example.org"))),
      .account(.register(.named(externalID: "a-1"))), .account(.register(.named(credential: nil))),
      .account(.changeProfile(ProfileEdit(nickname: "Al"))),
      .account(.changeProfile(ProfileEdit(nickname: "Ali"))), .account(.changeProfile(ProfileEdit(picture: .remove))),
      .account(.changeProfile(ProfileEdit(picture: .set(id(80))))),
      .account(.changeProfile(ProfileEdit(picture: .set(id(81))))),
      .account(.changeProfile(ProfileEdit(nickname: "Al", picture: .remove))),
      .account(.setEmail("al@example.org", checked: 1)),
      .account(.setEmail("ali@example.org", checked: 1)), .logins(.changePassword(.version(2), checked: 1)),
      .logins(.changePassword(.other(2), checked: 1)), .logins(.changePassword(.version(3), checked: 2)),
      .logins(.link(.of("a"), proof: .service)),
      .logins(.link(.of("a", issuer: "https://other.example.org"), proof: .service)),
      .logins(.link(.of("b"), proof: .service)), .logins(.unlink(.of("a"))), .logins(.unlink(.of("b"))),
      .account(.disable), .account(.enable),
      .sessions(.endMany(.others)), .sessions(.endMany(.all)),
      .sessions(.start(login, device: phone, proof: .password(version: 1))),
      .sessions(.start(login, device: nil, proof: .password(version: 1))),
      .sessions(.start(otherLogin, device: nil, proof: .password(version: 1))),
      .sessions(.refresh(login, presented: 1, oldest: nil)),
      .sessions(.refresh(login, presented: 2, oldest: nil)), .sessions(.refresh(otherLogin, presented: 1, oldest: nil)),
      .sessions(.end(login, .loggedOut)),
      .sessions(.end(login, .deviceRemoved)), .sessions(.end(otherLogin, .loggedOut)), .devices(.set(phone, .named())),
      .devices(.set(tablet, .named())), .devices(.set(phone, .named("mine"))), .devices(.set(phone, .named(type: nil))),
      .devices(.set(phone, .named(osVersion: nil))), .devices(.set(phone, .named(tokens: [token]))),
      .devices(.set(phone, .named(tokens: [PushToken(provider: .fcm, token: "a1")]))),
      .devices(.set(phone, .named(tokens: [PushToken(provider: .webPush, token: "a1")]))),
      .devices(.set(phone, .named(apnsEnvironment: .production))),
      .devices(.set(phone, .named(apnsEnvironment: .sandbox))), .devices(.set(phone, .named(language: "de"))),
      .devices(.set(phone, .named(language: "roomChanges"))), .devices(.set(phone, .named(roomChanges: true))),
      .devices(.set(phone, .named(language: "de", roomChanges: true))),
      .devices(.set(phone, .named(tokens: [token, token]))), .devices(.invalidateToken(phone, token)),
      .devices(.invalidateToken(phone, PushToken(provider: .fcm, token: "a1"))), .devices(.remove(phone)),
      .devices(.remove(tablet)),
      .account(.setPreferences(PreferencesEdit(sharesReadMarkers: true))),
      .account(.setPreferences(PreferencesEdit(sharesReadMarkers: false))),
      .account(.setPreferences(PreferencesEdit(acceptsDirectMessages: true))),
      .account(.setPreferences(PreferencesEdit(acceptsDirectMessages: false))),
      .account(.setPreferences(PreferencesEdit(sharesReadMarkers: true, acceptsDirectMessages: false))),
      .account(.setPreferences(PreferencesEdit(sharesPresence: true))),
      .account(.setPreferences(PreferencesEdit(sharesPresence: false))),
      .account(.setPreferences(PreferencesEdit(sharesReadMarkers: true, sharesPresence: false))),
      .account(.setPreferences(PreferencesEdit(acceptsDirectMessages: true, sharesPresence: false))),
      .account(.setPreferences(PreferencesEdit(notifications: .all))),
      .account(.setPreferences(PreferencesEdit(notifications: NotificationLevel.none))),
      .account(.setPreferences(PreferencesEdit(mutedKinds: []))),
      .account(.setPreferences(PreferencesEdit(mutedKinds: [.reaction]))),
      .account(.setPreferences(PreferencesEdit(quietHours: .remove))),
      .account(.setPreferences(PreferencesEdit(quietHours: .set(.atNight())))),
      .account(.setPreferences(PreferencesEdit(quietHours: .set(.atNight(to: "08:00"))))),
      .account(.setPreferences(PreferencesEdit(quietHours: .set(.atNight(in: "Asia/Seoul"))))),
      .account(.setPreferences(PreferencesEdit(showsPreviews: true))),
      .account(.changeProfile(ProfileEdit(custom: ""))), .account(.changeProfile(ProfileEdit(custom: "1"))),
      .account(.changeProfile(ProfileEdit(nickname: "1", custom: "1"))),
      .account(.changeProfile(ProfileEdit(picture: .remove, custom: "1"))),
      .account(.setPreferences(PreferencesEdit(showsPreviews: false))),
      .account(.setPreferences(PreferencesEdit(sharesPresence: false, showsPreviews: false))),
      .account(.setPreferences(PreferencesEdit(directRooms: .everyone))),
      .account(.setPreferences(PreferencesEdit(directRooms: .known))),
      .account(.setPreferences(PreferencesEdit(groupAdditions: .known))),
      .account(.setPreferences(PreferencesEdit(groupAdditions: .nobody))),
      .account(.setPreferences(PreferencesEdit(directRooms: .known, groupAdditions: .known))),
      .blocks(.block(bob)), .blocks(.block(carol)), .blocks(.unblock(bob)), .blocks(.unblock(carol)),
    ]
    #expect(Set(commands.map { $0.fingerprint(by: alice) }).count == commands.count)
  }

  @Test("differ for every two commands of a room")
  func roomCommands() {
    let commands: [RoomCommand] = [
      .lifecycle(.create(.named())), .lifecycle(.create(.named("coffee"))), .lifecycle(.create(.named("tea", .direct))),
      .lifecycle(.create(.named(by: nil))), .lifecycle(.create(.direct(alice, bob))),
      .lifecycle(.create(RoomCreation(kind: .group, name: "tea", creator: alice, custom: "1"))),
      .lifecycle(.create(RoomCreation(kind: .group, name: "tea", creator: alice, custom: "2"))),
      .lifecycle(.create(RoomCreation(kind: .group, name: "tea", creator: alice, topic: "1"))),
      .lifecycle(.create(.direct(alice, bob, in: office))), .lifecycle(.create(.direct(alice, bob, in: id(91)))),
      .lifecycle(.edit(RoomEdit(name: "tea"))), .lifecycle(.edit(RoomEdit(name: "coffee"))), .lifecycle(.archive),
      .lifecycle(.edit(RoomEdit(custom: ""))), .lifecycle(.edit(RoomEdit(custom: "1"))),
      .lifecycle(.edit(RoomEdit(name: "tea", custom: "1"))), .lifecycle(.edit(RoomEdit(topic: "1"))),
      .lifecycle(.edit(RoomEdit(topic: "tea", custom: "1"))),
      .sharing(.createInvite(.giving())),
      .sharing(.createInvite(.giving(.administrator))), .sharing(.createInvite(.giving(id: id(31)))),
      .sharing(.createInvite(.giving(until: dawn))), .sharing(.createInvite(.giving(until: nil))),
      .sharing(.createInvite(.giving(codeHash: [1]))),
      .sharing(.createInvite(.giving(uses: 1))), .sharing(.revokeInvite(link)), .sharing(.revokeInvite(id(31))),
      .sharing(.acceptInvite(link)),
      .sharing(.acceptInvite(id(31))), .members(.join), .members(.add(dave)), .members(.add(carol)),
      .members(.remove(dave)), .members(.remove(carol)),
      .members(.leave), .members(.mute(until: nil)), .members(.setNotifications(nil)),
      .members(.setNotifications(.all)), .members(.setHidden(true)), .members(.setHidden(false)),
      .members(.setNotifications(.mentions)), .members(.mute(until: noon)), .members(.mute(until: dawn)),
      .send(), .send("hi"),
      .messages(.edit(hello, .plain("hi"))),
      .messages(.edit(hello, .plain("ho"))),
      .messages(.edit(id(41), .plain("hi"))), .messages(.delete(hello)),
      .messages(.delete(id(41))), .reading(.moveMarker(to: hello)),
      .reading(.moveMarker(to: id(41))), .reading(.markUnread(from: hello)), .reading(.markUnread(from: id(41))),
      .schedule(), .schedule("hi"), .schedule(at: dawn), .reschedule(text: "hi"),
      .reschedule(text: "ho"), .reschedule(text: "hi", at: noon), .reschedule(at: noon), .reschedule(id(41), at: noon),
      .scheduling(.change(hello, ScheduledMessageEdit(text: "hi", mentions: Mentions(users: [bob])))),
      .scheduling(.change(hello, ScheduledMessageEdit(text: "hi", customBody: "1"))),
      .scheduling(.change(hello, ScheduledMessageEdit(customBody: "1"))),
      .scheduling(.change(hello, ScheduledMessageEdit(customBody: "2"))),
      .scheduling(.cancel(hello)), .scheduling(.cancel(id(41))),
      .scheduling(.send(hello, .saying(), revision: .first)),
      .scheduling(.send(id(41), .saying(), revision: .first)),
      .report(hello), .report(id(41)), .report(hello, comment: "x"), .report(user: dave), .report(user: carol),
      .report(user: dave, comment: "x"), .reports(.file(complaint, NewReport(.user(dave), reason: .hate))),
      .resolve(), .resolve(id(91)), .resolve(complaint, .other), .resolve(note: "x"), .reopen(), .reopen(id(91)),
      .lifecycle(.restore), .lifecycle(.delete), .members(.changeRole(dave, .member)),
      .members(.changeRole(dave, .administrator)), .members(.changeRole(carol, .member)),
      .members(.transfer(to: dave)), .members(.transfer(to: carol)), .members(.ban(dave)), .members(.ban(carol)),
      .members(.unban(dave)), .members(.unban(carol)),
      .members(.silence(dave, until: noon)), .members(.silence(dave, until: nil)),
      .members(.silence(carol, until: noon)),
      .annotations(.react(hello, "👍")),
      .annotations(.react(id(41), "👍")), .annotations(.react(hello, "👎")), .annotations(.unreact(hello, "👍")),
      .annotations(.unreact(id(41), "👍")), .annotations(.pin(hello)), .annotations(.pin(id(41))),
      .annotations(.unpin(hello)), .annotations(.unpin(id(41))),
      .threads(.setFollowing(hello, true)), .threads(.setFollowing(hello, false)),
      .threads(.setFollowing(id(41), true)),
      .threads(.moveMarker(to: hello, in: id(41))),
      .threads(.moveMarker(to: id(41), in: hello)),
      .messages(.edit(hello, MessageEdit(text: "hi", mentions: Mentions(users: [bob])))),
      .messages(.edit(hello, MessageEdit(text: "hi", mentions: Mentions(everyone: true)))),
      .messages(.edit(hello, MessageEdit(text: "hi", customBody: "1"))),
      .messages(.edit(hello, MessageEdit(text: "hi", customBody: "2"))),
      .messages(.edit(hello, MessageEdit(text: nil, customBody: "1"))),
      .messages(.edit(hello, MessageEdit(text: "", customBody: "1"))),
      .messages(.edit(hello, MessageEdit(text: "hi", mentions: Mentions(users: [bob]), customBody: "1"))),
      .send(NewMessage(text: "hello", custom: CustomPart(type: "a", body: "1"))),
      .send(NewMessage(text: "hello", custom: CustomPart(type: "a", body: "1", isSilent: true))),
      .send(NewMessage(text: "hello", thread: id(41))), .send(NewMessage(text: "hello", thread: id(42))),
    ]
    // The author is part of the fingerprints of these commands.
    let authored: [RoomCommand] = [.send(), .schedule(), .report(hello), .report(user: dave)]
    let fingerprints = commands.map { $0.fingerprint(by: alice) } + authored.map { $0.fingerprint(by: bob) }
    #expect(Set(fingerprints).count == fingerprints.count)
  }

  @Test("leave out what a retry may change")
  func leaveOut() {
    #expect(Registration.named(key: 1).fingerprint == Registration.named(key: 2).fingerprint)
    var rehashed = Invite.giving()
    rehashed.tokenHash = [1]
    #expect(rehashed.fingerprint == Invite.giving().fingerprint)
    #expect(Invite.giving(codeHash: [1]).fingerprint == Invite.giving(codeHash: [2]).fingerprint)
    // Only the ID of a file counts: what is known of its content may be gone when the message is sent again.
    func sent(_ content: Media) -> RoomEvent {
      let details = MessageDetails(attachments: [Attachment(media: id(1), content: content, name: nil)])
      return .messages(.sent(hello, author: alice, thread: nil, MessageContent(text: "look", details: details)))
    }
    let message = NewMessage(text: "look", attachments: [NewMessage.AttachedMedia(media: id(1), name: nil)])
    for content in [Media(hash: [1], contentType: "image/png", size: 3), Media(hash: [2], contentType: "a/b", size: 4)]
    {
      #expect(sent(content).fingerprint == RoomCommand.send(message).fingerprint(by: alice))
    }
  }

  /// The read models store the fingerprints of messages, so these must never change. They were computed once by a
  /// program in another language from the description of `Fingerprint`.
  @Test("of messages never change")
  func messageFingerprintsNeverChange() throws {
    func expect(_ fingerprint: Fingerprint, _ digits: String, _ location: SourceLocation = #_sourceLocation) {
      #expect(Hexadecimal.text(fingerprint.bytes.bytes) == digits, sourceLocation: location)
    }
    let plain = NewMessage.plain("hello")
    expect(.message(plain, author: carol), "788951e995cbc8a5f8c3a8d620f923b5")
    expect(
      .message(NewMessage(text: "hello", thread: hello), author: carol), "f0c398a7b644b920246cd69b2db2d4ac")
    let full = NewMessage(
      text: "hello", replyTo: id(41), thread: hello, mentions: Mentions(users: [bob, alice], everyone: true),
      attachments: [
        NewMessage.AttachedMedia(media: id(60), name: "tea.jpg"), NewMessage.AttachedMedia(media: id(61), name: nil),
      ], custom: CustomPart(type: "order.shipped", body: #"{"id":1}"#))
    expect(.message(full, author: carol), "7e45f56675815faeeea6abdb8e9b9edb")
    expect(.scheduling(.saying("hello")), "d038d6a8b3591bd5de32bd0eaf7f5b65")
    let edit = RoomCommand.messages(.edit(hello, MessageEdit(text: "hi", mentions: Mentions(users: [bob]))))
    expect(edit.fingerprint(by: carol), "9bacc9ffd44abe2c51ad61cb5c89e234")
  }

  @Test("bind a key to one stream, and an event's is its command's in that stream")
  func scoped() {
    let (tea, coffee): (RoomID, RoomID) = (id(80), id(81))
    let command = RoomCommand.lifecycle(.edit(RoomEdit(name: "tea")))
    let inTea = ChatEvent.room(tea, .lifecycle(.edited(RoomEdit(name: "tea")))).commandFingerprint
    let fingerprint = command.fingerprint(by: alice)
    #expect(inTea == fingerprint.scoped(to: tea.uuid))
    #expect(inTea != fingerprint.scoped(to: coffee.uuid))
    #expect(inTea != fingerprint)
    let removal = UserCommand.devices(.remove(phone))
    #expect(
      ChatEvent.user(alice, .devices(.removed(phone))).commandFingerprint
        == removal.fingerprint(by: alice).scoped(to: alice.uuid))
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
