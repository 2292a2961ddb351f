import ChatDomain
import ChatPrimitives
import Testing

/// Who can write in direct rooms. Both users get the same rejection for every reason.
@Suite("Refused direct messages")
struct DirectMessageSpecs {
  /// Each reason for which alice and bob cannot write to each other.
  static let reasons: [TestDirectory] = [
    TestDirectory(blocked: [alice: [bob]]), TestDirectory(blocked: [bob: [alice]]),
    TestDirectory(refusingDirectMessages: [alice]), TestDirectory(refusingDirectMessages: [bob]),
  ]

  private static let due = noon.adding(milliseconds: 60_000)

  private func direct(
    _ users: UserID..., directory: TestDirectory, then later: [RoomEvent] = []
  ) -> Given<RoomDecider> {
    let creation = RoomCreation(kind: .direct, name: "", creator: users[0], participants: users.sorted())
    let joining = users.map { RoomEvent.members(.added($0, role: .member)) }
    return given(
      RoomDecider.self,
      [.lifecycle(.created(creation))] + joining + [
        .scheduling(.scheduled(id(46), .saying(by: alice))), .scheduling(.scheduled(id(48), .saying(by: bob))),
      ] + later
    )
    .with(directory).knowing(hello, .of(alice, at: 9)).knowing(id(41), .of(bob, ordinal: 2, at: 10))
  }

  @Test("neither user can do anything that others see", arguments: reasons)
  func refuses(directory: TestDirectory) {
    for (user, own, other) in [(alice, hello, id(41)), (bob, id(41), hello)] as [(UserID, MessageID, MessageID)] {
      let commands: [RoomCommand] = [
        .send(id: id(42)), .send(.asking(for: .plain("in a thread"), in: hello)),
        .send(NewMessage(text: "a reply", replyTo: other)), .messages(.edit(own, .plain("hi"))),
        .annotations(.react(other, "👍")), .annotations(.pin(other)), .annotations(.unpin(other)),
        .schedule(id: id(47)),
      ]
      for context in [CommandContext.user(user), .service(for: user)] {
        for command in commands {
          direct(alice, bob, directory: directory).when(command, by: context).thenRejected(.directMessagesRefused)
        }
      }
    }
  }

  @Test("both users can still read, delete, mute, unreact, and change or cancel scheduled messages", arguments: reasons)
  func allows(directory: TestDirectory) {
    for (user, own, other) in [(alice, hello, id(41)), (bob, id(41), hello)] as [(UserID, MessageID, MessageID)] {
      let scheduled: MessageID = user == alice ? id(46) : id(48)
      let commands: [RoomCommand] = [
        .messages(.delete(own)), .annotations(.unreact(other, "👍")), .reading(.moveMarker(to: id(41))),
        .reading(.markUnread(from: other)), .threads(.setFollowing(hello, true)),
        .members(.setNotifications(.all)), .members(.mute(until: noon)),
        .reschedule(scheduled, text: "hi"), .scheduling(.cancel(scheduled)),
      ]
      for command in commands {
        direct(alice, bob, directory: directory).when(command, by: .user(user)).thenAccepted()
      }
    }
  }

  @Test("a user's retry is rejected; a service's retry is recognised", arguments: reasons)
  func retry(directory: TestDirectory) {
    let sent = KnownMessage.of(alice, .plain("hello"), at: 9)
    let given = direct(alice, bob, directory: directory).knowing(id(42), sent)
    given.when(.send(id: id(42)), by: .user(alice)).thenRejected(.directMessagesRefused)
    given.when(.send(id: id(42)), by: .service(for: alice)).thenAlreadyDone(at: 9)
  }

  @Test("a scheduled message fails with the same reason", arguments: reasons)
  func scheduled(directory: TestDirectory) {
    for (user, message) in [(alice, id(46)), (bob, id(48))] as [(UserID, MessageID)] {
      let position: UInt64 = user == alice ? 4 : 5
      direct(alice, bob, directory: directory)
        .when(
          .scheduling(.send(message, .saying(by: user), revision: LogPosition(position))),
          by: .service(for: user, at: Self.due)
        )
        .thenRecorded(.scheduling(.failed(message, .directMessagesRefused)))
    }
  }

  @Test("users outside the room and services get the same rejections as before", arguments: reasons)
  func order(directory: TestDirectory) {
    direct(alice, bob, directory: directory).when(.send(), by: .user(carol)).thenRejected(.roomNotFound)
    direct(alice, bob, directory: directory).when(.send(), by: .service()).thenRejected(.forbidden)
    for user in [alice, bob] {
      let silenced = RoomEvent.members(.silenced(user, until: noon.adding(milliseconds: 1)))
      direct(alice, bob, directory: directory, then: [silenced]).when(.send(id: id(42)), by: .user(user))
        .thenRejected(.memberSilenced)
    }
  }

  @Test("the rule applies only in direct rooms of two", arguments: reasons)
  func otherRooms(directory: TestDirectory) {
    direct(alice, bob, carol, directory: directory).when(.send(id: id(42)), by: .user(alice)).thenAccepted()
    given(RoomDecider.self, teaRoom).with(directory).when(.send(), by: .user(alice)).thenAccepted()
    direct(alice, bob, directory: TestDirectory(blocked: [alice: [carol], carol: [bob]]))
      .when(.send(id: id(42)), by: .user(alice)).thenAccepted()
  }

  @Test("neither user can create a direct room with the other", arguments: reasons)
  func creation(directory: TestDirectory) {
    for creation in [RoomCreation.direct(alice, bob), .direct(alice, bob, carol)] {
      given(RoomDecider.self, []).with(directory).when(.lifecycle(.create(creation)), by: .user(alice))
        .thenRejected(.directMessagesRefused)
      given(RoomDecider.self, []).with(directory).when(.lifecycle(.create(creation)), by: .service(for: alice))
        .thenRejected(.directMessagesRefused)
    }
    given(RoomDecider.self, []).with(directory).when(.lifecycle(.create(.direct(alice, carol, dave))), by: .user(alice))
      .expect(isAccepted: !directory.refusingDirectMessages.contains(alice))
  }

  @Test("a third user can create a direct room with both")
  func createdByOthers() {
    given(RoomDecider.self, []).with(TestDirectory(blocked: [bob: [alice]]))
      .when(.lifecycle(.create(.direct(carol, alice, bob))), by: .user(carol)).thenAccepted()
  }

  @Test("creating a direct room that exists returns it", arguments: reasons)
  func existing(directory: TestDirectory) {
    for user in [alice, bob] {
      var creation = RoomCreation.direct(alice, bob)
      creation.creator = user
      direct(alice, bob, directory: directory).when(.lifecycle(.create(creation)), by: .user(user))
        .thenAlreadyDone(at: 1)
    }
  }
}

extension Outcome {
  fileprivate func expect(isAccepted: Bool) {
    if isAccepted { thenAccepted() } else { thenRejected(.directMessagesRefused) }
  }
}
