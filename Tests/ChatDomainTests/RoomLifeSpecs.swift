import ChatDomain
import ChatPrimitives
import Testing

@Suite("Rooms")
struct RoomLifeSpecs {
  private func creating(_ creation: RoomCreation, by context: CommandContext = .user(alice)) -> Outcome<RoomDecider> {
    given(RoomDecider.self, []).when(.lifecycle(.create(creation)), by: context)
  }

  @Test("the creator owns a room; a room that a service creates has no owner")
  func creates() {
    creating(.named()).thenRecorded(.lifecycle(.created(.named())), .members(.joined(alice, role: .owner, invite: nil)))
    creating(.named(), by: .service(for: alice))
      .thenRecorded(.lifecycle(.created(.named())), .members(.joined(alice, role: .owner, invite: nil)))
    creating(.named(by: nil), by: .service()).thenRecorded(.lifecycle(.created(.named(by: nil))))
    creating(.named(by: nil)).thenRejected(.serviceOnly)
    creating(.named(by: bob)).thenRejected(.forbidden)
    creating(.named(), by: .service()).thenRejected(.forbidden)
    creating(.named(), by: .nobody()).thenRejected(.forbidden)
    creating(.named(by: stranger), by: .service(for: stranger)).thenRejected(.userNotFound)
  }

  @Test("the users whom the creation names become members, or nothing is created")
  func createsWithMembers() {
    func tea(_ users: UserID..., by creator: UserID? = alice) -> RoomCreation {
      var creation = RoomCreation.named(by: creator)
      creation.participants = users
      return creation
    }
    let creation = tea(bob, carol)
    let events: [RoomEvent] = [
      .lifecycle(.created(creation)), .members(.joined(alice, role: .owner, invite: nil)),
      .members(.added(bob, role: .member)), .members(.added(carol, role: .member)),
    ]
    creating(creation).thenRecorded(
      .lifecycle(.created(creation)), .members(.joined(alice, role: .owner, invite: nil)),
      .members(.added(bob, role: .member)), .members(.added(carol, role: .member)))
    creating(tea(bob, by: nil), by: .service())
      .thenRecorded(.lifecycle(.created(tea(bob, by: nil))), .members(.added(bob, role: .member)))
    creating(tea(bob, stranger)).thenRejected(.userNotFound)
    let state = given(RoomDecider.self, events)
    state.when(.lifecycle(.create(creation)), by: .user(alice)).thenAlreadyDone(at: 1)
    for other in [tea(), tea(bob), tea(bob, dave)] {
      state.when(.lifecycle(.create(other)), by: .user(alice)).thenRejected(.idInUse)
    }
  }

  @Test("the users whom a new channel names must be in its workspace")
  func createsChannelWithMembers() {
    var creation = RoomCreation.named("tea", .channel)
    creation.workspace = office
    creation.participants = [bob]
    for (roles, isAccepted) in [([alice: .member, bob: .guest], true), ([alice: .member], false)]
      as [([UserID: WorkspaceRole], Bool)]
    {
      let outcome = given(RoomDecider.self, []).with(TestDirectory(workspaces: [office: roles]))
        .when(.lifecycle(.create(creation)), by: .user(alice))
      if isAccepted { outcome.thenAccepted() } else { outcome.thenRejected(.workspaceMembersOnly) }
    }
  }

  @Test("a repeated creation returns the first one, whatever happened to the room")
  func createsOnce() {
    for later: [RoomEvent] in [
      [], [.lifecycle(.edited(RoomEdit(name: "coffee")))], [.lifecycle(.archived)], [.members(.left(alice))],
    ] {
      let state = given(RoomDecider.self, teaRoom + later)
      state.when(.lifecycle(.create(.named())), by: .user(alice)).thenAlreadyDone(at: 1)
      state.when(.lifecycle(.create(.named("coffee"))), by: .user(alice)).thenRejected(.idInUse)
      state.when(.lifecycle(.create(.named("tea", .channel))), by: .user(alice)).thenRejected(.idInUse)
      state.when(.lifecycle(.create(.named(by: bob))), by: .user(bob)).thenRejected(.idInUse)
    }
  }

  @Test("the length of a room's name, in bytes", arguments: [(1, true), (255, true), (256, true), (257, false)])
  func nameLength(bytes: Int, isAccepted: Bool) {
    let name = String(repeating: "r", count: bytes)
    let renamed = given(RoomDecider.self, teaRoom).when(.lifecycle(.edit(RoomEdit(name: name))), by: .user(alice))
    if isAccepted {
      creating(.named(name)).thenAccepted()
      renamed.thenRecorded(.lifecycle(.edited(RoomEdit(name: name))))
    } else {
      creating(.named(name)).thenRejected(.roomNameTooLong)
      renamed.thenRejected(.roomNameTooLong)
    }
  }

  @Test("only a direct room goes without a name")
  func emptyName() {
    creating(.named("")).thenRejected(.roomNameEmpty)
    creating(.named("", .channel)).thenRejected(.roomNameEmpty)
    creating(.direct(alice, bob)).thenAccepted()
    given(RoomDecider.self, teaRoom).when(.lifecycle(.edit(RoomEdit(name: ""))), by: .user(alice)).thenRejected(
      .roomNameEmpty)
  }

  @Test("the length of a topic, in bytes", arguments: [(0, true), (1023, true), (1024, true), (1025, false)])
  func topicLength(bytes: Int, isAccepted: Bool) {
    let topic = String(repeating: "t", count: bytes)
    var creation = RoomCreation.named()
    creation.topic = topic
    for outcome in [
      creating(creation),
      given(RoomDecider.self, teaRoom).when(.lifecycle(.edit(RoomEdit(topic: topic))), by: .user(alice)),
    ] {
      if isAccepted { outcome.thenAccepted() } else { outcome.thenRejected(.topicTooLong) }
    }
  }

  @Test("an archived room can be restored; restoring an open room changes nothing")
  func restores() {
    let archived = given(RoomDecider.self, teaRoom + [.lifecycle(.archived)])
    archived.when(.lifecycle(.restore), by: .user(bob)).thenRecorded(.lifecycle(.restored))
    archived.when(.lifecycle(.restore), by: .user(carol)).thenRejected(.forbidden)
    archived.when(.lifecycle(.restore), by: .user(stranger)).thenRejected(.roomNotFound)
    given(RoomDecider.self, teaRoom).when(.lifecycle(.restore), by: .user(bob)).thenAlreadyDone(at: 1)
    let open = given(RoomDecider.self, teaRoom + [.lifecycle(.archived), .lifecycle(.restored)])
    open.when(.send(), by: .user(carol)).thenAccepted()
    open.when(.lifecycle(.archive), by: .user(bob)).thenRecorded(.lifecycle(.archived))
  }

  @Test("the owner or a service deletes a room, and nobody can see it any more")
  func deletes() {
    let room = given(RoomDecider.self, teaRoom)
    for context: CommandContext in [.user(alice), .service(), .service(for: alice)] {
      room.when(.lifecycle(.delete), by: context).thenRecorded(.lifecycle(.deleted))
    }
    given(RoomDecider.self, teaRoom + [.lifecycle(.archived)]).when(.lifecycle(.delete), by: .user(alice)).thenRecorded(
      .lifecycle(.deleted))
    for user in [bob, carol] { room.when(.lifecycle(.delete), by: .user(user)).thenRejected(.forbidden) }
    room.when(.lifecycle(.delete), by: .user(stranger)).thenRejected(.roomNotFound)
    let deleted = given(RoomDecider.self, teaRoom + [.sharing(.inviteCreated(.giving())), .lifecycle(.deleted)])
    #expect(deleted.state == .deleted(.at(7), creationFingerprint: RoomCreation.named().fingerprint))
    for command: RoomCommand in [
      .lifecycle(.edit(RoomEdit(name: "coffee"))), .lifecycle(.archive), .lifecycle(.restore), .lifecycle(.delete),
      .members(.leave), .members(.mute(until: nil)), .members(.setNotifications(nil)), .send(),
      .members(.add(bob)), .members(.ban(bob)), .members(.transfer(to: bob)), .members(.changeRole(bob, .member)),
      .sharing(.createInvite(.giving())),
    ] {
      deleted.when(command, by: .user(alice)).thenRejected(.roomNotFound)
    }
    deleted.when(.sharing(.acceptInvite(link)), by: .user(dave)).thenRejected(.inviteNotFound)
    // Repeating the creation is recognized, as for a workspace. No other room can ever have the ID.
    deleted.when(.lifecycle(.create(.named())), by: .user(alice)).thenRejected(.roomNotFound)
    deleted.when(.lifecycle(.create(.named("coffee"))), by: .user(alice)).thenRejected(.idInUse)
    given(RoomDecider.self, [.erased(kind: 1), .lifecycle(.deleted)]).when(
      .lifecycle(.create(.named())), by: .user(alice)
    )
    .thenRejected(.idInUse)
    deleted.when(.lifecycle(.create(.named(by: bob))), by: .user(bob)).thenRejected(.idInUse)
  }

  @Test("owners, administrators and services rename and archive; a stranger learns nothing")
  func rights() {
    for command: RoomCommand in [.lifecycle(.edit(RoomEdit(name: "tea"))), .lifecycle(.archive)] {
      let state = given(RoomDecider.self, teaRoom)
      for context: CommandContext in [.user(alice), .user(bob), .service(), .service(for: bob)] {
        state.when(command, by: context).thenAccepted()
      }
      state.when(command, by: .user(carol)).thenRejected(.forbidden)
      state.when(command, by: .service(for: carol)).thenRejected(.forbidden)
      state.when(command, by: .user(stranger)).thenRejected(.roomNotFound)
      given(RoomDecider.self, []).when(command, by: .user(alice)).thenRejected(.roomNotFound)
      given(RoomDecider.self, []).when(command, by: .service()).thenRejected(.roomNotFound)
      state.when(command, by: .nobody()).thenRejected(.forbidden)
    }
  }

  @Test("an archived room can be read, left and cleaned up, and accepts nothing new")
  func archived() {
    let events: [RoomEvent] =
      teaRoom + [
        .sharing(.inviteCreated(.giving())), .messages(.sent(hello, author: carol, thread: nil, .plain("hello"))),
        .lifecycle(.archived),
      ]
    let state = given(RoomDecider.self, events).knowing(hello, .of(carol, at: 7))
    state.when(.lifecycle(.archive), by: .user(bob)).thenAlreadyDone(at: 8)
    for command: RoomCommand in [
      .lifecycle(.edit(RoomEdit(name: "coffee"))), .sharing(.createInvite(.giving(id: id(31)))),
      .members(.add(stranger)),
      .send(id: id(41)),
    ] {
      state.when(command, by: .user(alice)).thenRejected(.roomArchived)
    }
    state.when(.messages(.edit(hello, .plain("hi"))), by: .user(carol)).thenRejected(.roomArchived)
    let open = TestDirectory(registered: [stranger])
    state.with(open).when(.sharing(.acceptInvite(link)), by: .user(stranger)).thenRejected(.roomArchived)
    state.with(open).when(.members(.join), by: .service(for: stranger)).thenRejected(.roomArchived)
    for command: RoomCommand in [
      .sharing(.revokeInvite(link)), .members(.remove(carol)), .members(.mute(until: nil)), .messages(.delete(hello)),
      .reading(.moveMarker(to: hello)), .members(.ban(carol)), .members(.silence(carol, until: noon)),
      .members(.changeRole(carol, .administrator)), .members(.transfer(to: bob)),
    ] {
      state.when(command, by: .user(alice)).thenAccepted()
    }
    state.when(.members(.leave), by: .user(carol)).thenAccepted()
    let read = given(
      RoomDecider.self, events + [.reading(.markerMoved(alice, to: hello, ordinal: 1)), .members(.left(carol))])
    guard case .archived(let room, let since) = read.state else {
      Issue.record("not archived")
      return
    }
    #expect(since == .at(8))
    #expect(room.members[alice]?.marker == 1)
    #expect(room.members[carol] == nil)
  }
}
