import ChatDomain
import ChatPrimitives
import Testing

@Suite("What a client says it last saw")
struct PreconditionSpecs {
  /// A command that changes something, what makes a revision of that before it, and that revision.
  struct Change<D: Decider>: Sendable {
    let events: [D.Event]
    let command: D.Command
    let revision: UInt64
  }

  private func check<D: Decider>(
    _ change: Change<D>, by user: UserID = alice, _ location: SourceLocation = #_sourceLocation
  ) where D.Event: Traceable {
    let state = given(D.self, change.events)
    for precondition: Precondition in [
      .at(change.revision), .at(change.revision - 1, change.revision, change.revision + 1), .exists,
    ] {
      state.when(change.command, by: .user(user, if: precondition)).thenAccepted(location: location)
    }
    for precondition: Precondition in [.at(), .at(change.revision - 1), .at(change.revision - 1, change.revision + 1)] {
      state.when(change.command, by: .user(user, if: precondition))
        .thenRejected(.revisionMismatch, location: location)
    }
  }

  @Test("a room is at its last change of looks, archiving or opening, and at nothing that its members do")
  func rooms() {
    let (made, talked): ([RoomEvent], [RoomEvent]) = (
      teaRoom, [.members(.left(dave)), .messages(.sent(hello, author: alice, thread: nil, .plain("tea?")))]
    )
    let count = UInt64(made.count)
    let edit = RoomCommand.edit(RoomEdit(topic: "tea"))
    check(Change<RoomDecider>(events: made + talked, command: edit, revision: 1))
    let edited = made + [.lifecycle(.edited(RoomEdit(name: "green tea")))] + talked
    for command: RoomCommand in [edit, .archive, .delete] {
      check(Change<RoomDecider>(events: edited, command: command, revision: count + 1))
    }
    let archived = edited + [.lifecycle(.archived)]
    let revision = UInt64(archived.count)
    for command: RoomCommand in [.restore, .delete] {
      check(Change<RoomDecider>(events: archived, command: command, revision: revision))
    }
    check(Change<RoomDecider>(events: archived + [.lifecycle(.archived)], command: .restore, revision: revision))
    check(Change<RoomDecider>(events: archived + [.lifecycle(.restored)], command: edit, revision: revision + 1))
  }

  @Test("a message is at its sending or its last edit, as it was looked up")
  func messages() {
    var facts = KnownMessage.of(alice, at: 6)
    for revision: UInt64 in [6, 9] {
      facts.revision = LogPosition(revision)
      for command: RoomCommand in [
        .editMessage(hello, .plain("hi"), target: facts), .deleteMessage(hello, target: facts),
      ] {
        check(Change<RoomDecider>(events: teaRoom, command: command, revision: revision))
      }
    }
  }

  @Test("a message that waits for its time is at its last writing")
  func scheduledMessages() {
    let scheduled = teaRoom + [.scheduling(.scheduled(hello, .saying()))]
    let changed = scheduled + [.scheduling(.changed(hello, ScheduledMessageEdit(text: "hi")))]
    for events in [scheduled, changed] {
      for command: RoomCommand in [.reschedule(hello, text: "ho"), .cancelScheduledMessage(hello, prior: nil)] {
        check(
          Change<RoomDecider>(events: events, command: command, revision: UInt64(events.count)), by: carol)
      }
    }
  }

  @Test("a workspace is at its last change of looks")
  func workspaces() {
    let made: [WorkspaceEvent] = [
      .lifecycle(.created(WorkspaceCreation(name: "office", creator: alice))),
      .members(.joined(alice, role: .owner, by: .service)),
      .members(.joined(bob, role: .member, by: .service)),
    ]
    for command: WorkspaceCommand in [.edit(WorkspaceEdit(name: "home")), .delete] {
      check(Change<WorkspaceDecider>(events: made, command: command, revision: 1))
      let edited = made + [.lifecycle(.edited(WorkspaceEdit(topic: "tea"))), .members(.left(bob))]
      check(Change<WorkspaceDecider>(events: edited, command: command, revision: 4))
    }
  }

  @Test("a user is at the last change of profile or address; a device at its last description or loss of a token")
  func users() {
    let token = PushToken(provider: .apns, token: "aa")
    let rename = UserCommand(alice, .changeProfile(ProfileEdit(nickname: "Al")))
    let at = { (events: [UserEvent]) in UInt64(events.count) }
    let renamed = aliceAtHome + [.account(.profileChanged(ProfileEdit(nickname: "A")))]
    check(Change<UserDecider>(events: renamed + [.devices(.removed(phone))], command: rename, revision: at(renamed)))
    let moved = renamed + [.account(.emailSet("al@example.org"))]
    check(Change<UserDecider>(events: moved, command: rename, revision: at(moved)))
    let described = aliceAtHome + [.devices(.updated(phone, .named(tokens: [token])))]
    let other: UserEvent = .devices(.tokenInvalidated(phone, PushToken(provider: .fcm, token: "aa")))
    for action: UserAction in [.setDevice(phone, .named("new")), .removeDevice(phone)] {
      let command = UserCommand(alice, action)
      check(Change<UserDecider>(events: described + [other], command: command, revision: at(described)))
      let robbed = described + [.devices(.tokenMoved(phone, token))]
      check(Change<UserDecider>(events: robbed, command: command, revision: at(robbed)))
    }
  }

  @Test("what is not there is at nothing")
  func absent() {
    let command = UserCommand(alice, .setDevice(tablet, .named()))
    let state = given(UserDecider.self, aliceAtHome)
    for precondition: Precondition in [.exists, .at(1)] {
      state.when(command, by: .user(alice, if: precondition)).thenRejected(.revisionMismatch)
    }
  }

  @Test("neither a repeat nor another refusal hangs from it")
  func comesLast() throws {
    let old = Precondition.at(1)
    var harness = DeciderHarness<RoomDecider>(teaRoom)
    let context = CommandContext.user(alice, key: .retried, if: old)
    let first = try harness.submit(.edit(RoomEdit(name: "green tea")), by: context)
    harness.record(.lifecycle(.edited(RoomEdit(name: "coffee"))))
    #expect(try harness.submit(.edit(RoomEdit(name: "green tea")), by: context) == first)
    let deleted = KnownMessage.of(alice, at: 6, deletedAt: 7)
    given(RoomDecider.self, teaRoom).when(.deleteMessage(hello, target: deleted), by: .user(alice, if: old))
      .thenAlreadyDone(at: 7)
    let edited = given(RoomDecider.self, teaRoom + [.lifecycle(.edited(RoomEdit(name: "coffee")))])
    edited.when(.edit(RoomEdit(name: "")), by: .user(alice, if: old)).thenRejected(.roomNameEmpty)
    edited.when(.edit(RoomEdit(name: "tea")), by: .user(stranger, if: old)).thenRejected(.roomNotFound)
  }
}
