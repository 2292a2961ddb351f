import ChatDomain
import ChatPrimitives
import Testing

@Suite("Preconditions")
struct PreconditionSpecs {
  /// A command that changes something, the events before it, and the revision that they result in.
  struct Change<D: Decider>: Sendable {
    let events: [D.Event]
    let command: D.Command
    let revision: UInt64
    var known = Known()
  }

  private func check<D: Decider>(
    _ change: Change<D>, by user: UserID = alice, _ location: SourceLocation = #_sourceLocation
  ) where D.Event: Traceable {
    let state = given(D.self, change.events).knowing(change.known)
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

  @Test("a room's revision changes with edits, archiving and restoring, not with its members' actions")
  func rooms() {
    let (made, talked): ([RoomEvent], [RoomEvent]) = (
      teaRoom, [.members(.left(dave)), .messages(.sent(hello, author: alice, thread: nil, .plain("tea?")))]
    )
    let count = UInt64(made.count)
    let edit = RoomCommand.lifecycle(.edit(RoomEdit(topic: "tea")))
    check(Change<RoomDecider>(events: made + talked, command: edit, revision: 1))
    let edited = made + [.lifecycle(.edited(RoomEdit(name: "green tea")))] + talked
    for command: RoomCommand in [edit, .lifecycle(.archive), .lifecycle(.delete)] {
      check(Change<RoomDecider>(events: edited, command: command, revision: count + 1))
    }
    let archived = edited + [.lifecycle(.archived)]
    let revision = UInt64(archived.count)
    for command: RoomCommand in [.lifecycle(.restore), .lifecycle(.delete)] {
      check(Change<RoomDecider>(events: archived, command: command, revision: revision))
    }
    check(
      Change<RoomDecider>(events: archived + [.lifecycle(.archived)], command: .lifecycle(.restore), revision: revision)
    )
    check(Change<RoomDecider>(events: archived + [.lifecycle(.restored)], command: edit, revision: revision + 1))
  }

  @Test("a message's revision is the position of its sending or last edit")
  func messages() {
    var message = KnownMessage.of(alice, at: 6)
    for revision: UInt64 in [6, 9] {
      message.revision = LogPosition(revision)
      for command: RoomCommand in [
        .messages(.edit(hello, .plain("hi"))), .messages(.delete(hello)),
      ] {
        check(
          Change<RoomDecider>(
            events: teaRoom, command: command, revision: revision, known: .messages([hello: message])))
      }
    }
  }

  @Test("a scheduled message's revision is the position of its last change")
  func scheduledMessages() {
    let scheduled = teaRoom + [.scheduling(.scheduled(hello, .saying()))]
    let changed = scheduled + [.scheduling(.changed(hello, ScheduledMessageEdit(text: "hi")))]
    for events in [scheduled, changed] {
      for command: RoomCommand in [.reschedule(hello, text: "ho"), .scheduling(.cancel(hello))] {
        check(
          Change<RoomDecider>(events: events, command: command, revision: UInt64(events.count)), by: carol)
      }
    }
  }

  @Test("a report's revision is the position where it was last filed, resolved or reopened")
  func reports() {
    for (revised, isOpen) in [(6, true), (7, false)] as [(UInt64, Bool)] {
      var known = Known()
      known.reports[.of(complaint)] = .of(at: 6, revised: revised, isOpen: isOpen)
      for command: RoomCommand in isOpen ? [.resolve()] : [.reopen()] {
        check(
          Change<RoomDecider>(events: teaRoom + [.reported()], command: command, revision: revised, known: known))
      }
    }
  }

  @Test("a workspace's revision is the position of its last edit")
  func workspaces() {
    let made: [WorkspaceEvent] = [
      .lifecycle(.created(WorkspaceCreation(name: "office", creator: alice))),
      .members(.joined(alice, role: .owner, by: .service)),
      .members(.joined(bob, role: .member, by: .service)),
    ]
    for command: WorkspaceCommand in [.lifecycle(.edit(WorkspaceEdit(name: "home"))), .lifecycle(.delete)] {
      check(Change<WorkspaceDecider>(events: made, command: command, revision: 1))
      let edited = made + [.lifecycle(.edited(WorkspaceEdit(topic: "tea"))), .members(.left(bob))]
      check(Change<WorkspaceDecider>(events: edited, command: command, revision: 4))
    }
  }

  @Test("revisions of users change with profile and address, revisions of devices with descriptions and lost tokens")
  func users() {
    let token = PushToken(provider: .apns, token: "aa")
    let rename = UserCommand.account(.changeProfile(ProfileEdit(nickname: "Al")))
    let at = { (events: [UserEvent]) in UInt64(events.count) }
    let renamed = aliceAtHome + [.account(.profileChanged(ProfileEdit(nickname: "A")))]
    check(Change<UserDecider>(events: renamed + [.devices(.removed(phone))], command: rename, revision: at(renamed)))
    let moved = renamed + [.account(.emailSet("al@example.org"))]
    check(Change<UserDecider>(events: moved, command: rename, revision: at(moved)))
    let described = aliceAtHome + [.devices(.updated(phone, .named(tokens: [token])))]
    let other: UserEvent = .devices(.tokenInvalidated(phone, PushToken(provider: .fcm, token: "aa")))
    for command: UserCommand in [.devices(.set(phone, .named("new"))), .devices(.remove(phone))] {
      check(Change<UserDecider>(events: described + [other], command: command, revision: at(described)))
      for loss: UserEvent in [.devices(.tokenTaken(phone, .apns)), .devices(.tokenMoved(phone, token))] {
        let robbed = described + [loss]
        check(Change<UserDecider>(events: robbed, command: command, revision: at(robbed)))
      }
    }
  }

  @Test("a missing object has no revision")
  func absent() {
    let command = UserCommand.devices(.set(tablet, .named()))
    let state = given(UserDecider.self, aliceAtHome)
    for precondition: Precondition in [.exists, .at(1)] {
      state.when(command, by: .user(alice, if: precondition)).thenRejected(.revisionMismatch)
    }
  }

  @Test("repeats and other rejections do not depend on it")
  func comesLast() throws {
    let old = Precondition.at(1)
    var harness = DeciderHarness<RoomDecider>(teaRoom)
    let context = CommandContext.user(alice, key: .retried, if: old)
    let first = try harness.submit(.lifecycle(.edit(RoomEdit(name: "green tea"))), by: context)
    harness.record(.lifecycle(.edited(RoomEdit(name: "coffee"))))
    #expect(try harness.submit(.lifecycle(.edit(RoomEdit(name: "green tea"))), by: context) == first)
    let deleted = KnownMessage.of(alice, at: 6, deletedAt: 7)
    given(RoomDecider.self, teaRoom).knowing(hello, deleted).when(.messages(.delete(hello)), by: .user(alice, if: old))
      .thenAlreadyDone(at: 7)
    let edited = given(RoomDecider.self, teaRoom + [.lifecycle(.edited(RoomEdit(name: "coffee")))])
    edited.when(.lifecycle(.edit(RoomEdit(name: ""))), by: .user(alice, if: old)).thenRejected(.roomNameEmpty)
    edited.when(.lifecycle(.edit(RoomEdit(name: "tea"))), by: .user(stranger, if: old)).thenRejected(.roomNotFound)
  }
}
