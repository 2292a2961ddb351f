import ChatDomain
import ChatPrimitives
import Testing

@Suite("Erased events are accepted")
struct ErasureSpecs {
  private static let everyRoomEvent: [RoomEvent] =
    teaRoom + [
      .lifecycle(.edited(RoomEdit(name: "coffee"))), .sharing(.inviteCreated(.giving())),
      .sharing(.inviteRevoked(link)), .members(.left(dave)),
      .members(.removed(carol)), .members(.muted(bob, until: noon)),
      .messages(.sent(hello, author: bob, thread: nil, .plain("hello"))),
      .messages(.edited(hello, at: .room(1), .plain("hi"))), .messages(.deleted(hello, at: .room(1))),
      .reading(.markerMoved(alice, to: hello, ordinal: 1)), .lifecycle(.archived),
      .members(.joined(carol, role: .member, invite: link)),
      .members(.muted(stranger, until: nil)), .reading(.markerMoved(stranger, to: hello, ordinal: 9)),
      .messages(.sent(id(41), author: stranger, thread: nil, nil)), .sharing(.inviteRevoked(id(31))),
      .lifecycle(.archived),
      .lifecycle(.created(.named("again"))),
    ]

  private static let everyUserEvent: [UserEvent] =
    aliceAtHome + [
      .account(.profileChanged(ProfileEdit(nickname: "Al"))), .sessions(.refreshed(login, generation: 2)),
      .sessions(.refreshed(otherLogin, generation: 2)), .devices(.updated(phone, .named("mine"))),
      .devices(.updated(tablet, .named("tablet"))),
      .devices(.tokenInvalidated(id(12), PushToken(provider: .fcm, token: "t"))),
      .devices(.removed(tablet)), .devices(.removed(id(12))), .sessions(.ended(login, .loggedOut)),
      .sessions(.ended(otherLogin, .loggedOut)), .sessions(.started(login, device: nil)),
      .account(.registered(.named("again"))),
    ]

  @Test("in place of any event of a room, and all later events", arguments: 0..<everyRoomEvent.count)
  func room(place: Int) throws {
    var events = Self.everyRoomEvent
    events[place] = .erased(kind: 7)
    let room = try #require(given(RoomDecider.self, events).state.room)
    #expect(room.created == .at(1))
    #expect((room.creationFingerprint == nil) == (place == 0))
  }

  @Test("in place of any event of a user, and all later events", arguments: 0..<everyUserEvent.count)
  func user(place: Int) {
    var events = Self.everyUserEvent
    events[place] = .erased(kind: 7)
    guard case .registered(let user) = given(UserDecider.self, events).state else {
      Issue.record("not registered")
      return
    }
    #expect(user.registered == .at(1))
    #expect((user.registrationFingerprint == nil) == (place == 0))
  }

  @Test("the ID of an erased message stays taken, and the room remains usable")
  func erasedBeginnings() {
    let room = given(RoomDecider.self, [.erased(kind: 1)] + teaRoom.dropFirst())
    room.when(.lifecycle(.create(.named())), by: .user(alice)).thenRejected(.idInUse)
    room.when(.lifecycle(.edit(RoomEdit(name: "coffee"))), by: .user(alice)).thenAccepted()
    room.when(.send(), by: .user(dave)).thenAccepted()
    let direct = given(RoomDecider.self, [.erased(kind: 1), .members(.added(bob, role: .member))])
    direct.when(.lifecycle(.create(.direct(bob, alice))), by: .user(bob)).thenAlreadyDone(at: 1)
    let user = given(UserDecider.self, [.erased(kind: 1)])
    user.when(.account(.register(.named())), by: .nobody()).thenRejected(.idInUse)
    user.when(.sessions(.start(login, device: nil, proof: .password(version: 1))), by: .user(alice))
      .thenRejected(.credentialsRejected)
  }

  @Test("a stream that lacks its beginning stays absent, and an erased text keeps its ordinal")
  func strayEvents() {
    for event in Self.everyRoomEvent.dropFirst() where event != .lifecycle(.created(.named("again"))) {
      #expect(given(RoomDecider.self, [event]).state == .absent)
    }
    for event in Self.everyUserEvent.dropFirst() where event != .account(.registered(.named("again"))) {
      #expect(given(UserDecider.self, [event]).state == .absent)
    }
    let room = given(RoomDecider.self, teaRoom + [.messages(.sent(hello, author: bob, thread: nil, nil))]).state.room
    #expect(room?.lastOrdinal == 1)
  }
}
