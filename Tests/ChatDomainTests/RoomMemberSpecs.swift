import ChatDomain
import ChatPrimitives
import Testing

@Suite("Members")
struct RoomMemberSpecs {
  private let newcomer: UserID = id(60)
  private func room(_ later: [RoomEvent] = []) -> Given<RoomDecider> {
    given(RoomDecider.self, teaRoom + later).with(TestDirectory(registered: [alice, bob, carol, dave, newcomer]))
  }

  @Test("a service adds the user for whom it acts")
  func joins() {
    room().when(.members(.join), by: .service(for: newcomer))
      .thenRecorded(.members(.joined(newcomer, role: .member, invite: nil)))
    room().when(.members(.join), by: .service(for: carol)).thenAlreadyDone(at: 4)
    room([.lifecycle(.archived)]).when(.members(.join), by: .service(for: carol)).thenAlreadyDone(at: 4)
    room().when(.members(.join), by: .user(newcomer)).thenRejected(.roomNotFound)
    room().when(.members(.join), by: .service()).thenRejected(.forbidden)
    room().when(.members(.join), by: .service(for: stranger)).thenRejected(.userNotFound)
    given(RoomDecider.self, []).when(.members(.join), by: .service(for: alice)).thenRejected(.roomNotFound)
  }

  @Test("owners, administrators and services add registered users")
  func adds() {
    for context: CommandContext in [.user(alice), .user(bob), .service()] {
      room().when(.members(.add(newcomer)), by: context).thenRecorded(.members(.added(newcomer, role: .member)))
      room().when(.members(.add(carol)), by: context).thenAlreadyDone(at: 4)
      room().when(.members(.add(stranger)), by: context).thenRejected(.userNotFound)
    }
    room().when(.members(.add(newcomer)), by: .user(carol)).thenRejected(.forbidden)
    room().when(.members(.add(alice)), by: .user(newcomer)).thenRejected(.roomNotFound)
  }

  @Test("everyone removes those below them; only a service removes an owner")
  func removes() {
    let rank: [(CommandContext, Set<UserID>)] = [
      (.user(alice), [bob, carol, dave]), (.user(bob), [carol, dave]), (.service(), [alice, bob, carol, dave]),
      (.service(for: bob), [carol, dave]),
    ]
    for (context, removable) in rank {
      for target in [alice, bob, carol, dave] {
        let outcome = room().when(.members(.remove(target)), by: context)
        if target == alice, removable.contains(target) {
          outcome.thenRecorded(.members(.removed(alice)), .members(.roleChanged(bob, .owner)))
        } else if removable.contains(target) {
          outcome.thenRecorded(.members(.removed(target)))
        } else {
          outcome.thenRejected(.forbidden)
        }
      }
      room().when(.members(.remove(newcomer)), by: context).thenRejected(.memberNotFound)
    }
    room().when(.members(.remove(dave)), by: .user(carol)).thenRejected(.forbidden)
    room([.members(.added(newcomer, role: .administrator))]).when(.members(.remove(newcomer)), by: .user(bob))
      .thenRejected(.forbidden)
  }

  @Test("members can leave; anyone else gets room_not_found")
  func leaves() {
    room().when(.members(.leave), by: .user(carol)).thenRecorded(.members(.left(carol)))
    room().when(.members(.leave), by: .user(alice)).thenRejected(.ownerMustTransfer)
    room([.members(.left(bob)), .members(.left(carol)), .members(.left(dave))]).when(.members(.leave), by: .user(alice))
      .thenRecorded(.members(.left(alice)))
    room().when(.members(.leave), by: .user(newcomer)).thenRejected(.roomNotFound)
    room([.members(.left(carol))]).when(.members(.leave), by: .user(carol)).thenRejected(.roomNotFound)
    given(RoomDecider.self, []).when(.members(.leave), by: .user(carol)).thenRejected(.roomNotFound)
    room().when(.members(.leave), by: .user(stranger)).thenRejected(.userNotFound)
    room().when(.members(.leave), by: .service()).thenRejected(.forbidden)
  }

  @Test("the user who joins an empty room that had an owner owns it; a room without an owner stays without one")
  func inheritsEmptyRoom() {
    let gone: [RoomEvent] = [.members(.left(bob)), .members(.left(carol)), .members(.left(dave))]
    let ways: [(RoomCommand, CommandContext, (Role) -> RoomEvent)] = [
      (.sharing(.acceptInvite(link)), .user(newcomer), { .members(.joined(newcomer, role: $0, invite: link)) }),
      (.members(.join), .service(for: newcomer), { .members(.joined(newcomer, role: $0, invite: nil)) }),
      (.members(.add(newcomer)), .service(), { .members(.added(newcomer, role: $0)) }),
    ]
    for (command, context, event) in ways {
      for end: RoomEvent in [.members(.left(alice)), .members(.removed(alice)), .members(.banned(alice))] {
        let empty = room([.sharing(.inviteCreated(.giving()))] + gone + [end])
        empty.when(command, by: context).thenRecorded(event(.owner))
        // Ownership is inherited only once. The next user gets the role of the way in.
        room([.sharing(.inviteCreated(.giving()))] + gone + [end, .members(.added(bob, role: .owner))]).when(
          command, by: context
        )
        .thenRecorded(event(.member))
      }
      room([.sharing(.inviteCreated(.giving()))] + gone).when(command, by: context).thenRecorded(event(.member))
      let services = given(
        RoomDecider.self, [.lifecycle(.created(.named(by: nil))), .sharing(.inviteCreated(.giving()))]
      )
      .with(TestDirectory(registered: [newcomer]))
      services.when(command, by: context).thenRecorded(event(.member))
      let transferred = given(
        RoomDecider.self,
        [
          .lifecycle(.created(.named(by: nil))), .sharing(.inviteCreated(.giving())),
          .members(.added(bob, role: .member)),
          .members(.roleChanged(bob, .owner)), .members(.left(bob)),
        ]
      ).with(TestDirectory(registered: [newcomer]))
      transferred.when(command, by: context).thenRecorded(event(.owner))
    }
  }

  @Test(
    "users who left or were removed have no rights",
    arguments: [RoomEvent.members(.left(bob)), .members(.removed(bob))])
  func losesRights(end: RoomEvent) {
    let commands: [RoomCommand] = [
      .lifecycle(.edit(RoomEdit(name: "coffee"))), .lifecycle(.archive), .sharing(.createInvite(.giving())),
      .sharing(.revokeInvite(link)), .members(.add(newcomer)),
      .members(.remove(carol)), .members(.leave), .members(.mute(until: nil)), .send(id: id(41)),
      .send(), .messages(.edit(hello, .plain("hi"))),
      .messages(.delete(hello)), .reading(.moveMarker(to: hello)),
    ]
    for command in commands {
      room([.messages(.sent(hello, author: bob, thread: nil, .plain("hello"))), end]).knowing(hello, .of(bob, at: 6))
        .when(command, by: .user(bob)).thenRejected(.roomNotFound)
    }
  }

  @Test("muting is recorded each time, for members only")
  func mutes() {
    room().when(.members(.mute(until: noon)), by: .user(carol)).thenRecorded(.members(.muted(carol, until: noon)))
    room([.members(.muted(carol, until: noon))]).when(.members(.mute(until: noon)), by: .user(carol))
      .thenRecorded(.members(.muted(carol, until: noon)))
    room().when(.members(.mute(until: nil)), by: .user(carol)).thenRecorded(.members(.muted(carol, until: nil)))
    room().when(.members(.mute(until: nil)), by: .user(newcomer)).thenRejected(.roomNotFound)
    room().when(.members(.mute(until: nil)), by: .service()).thenRejected(.forbidden)
    #expect(room([.members(.muted(carol, until: noon))]).state.room?.members[carol]?.mutedUntil == noon)
    #expect(
      room([.members(.muted(carol, until: noon)), .members(.muted(carol, until: nil))]).state.room?.members[carol]?
        .mutedUntil == nil)
  }

  @Test("the level of notifications is recorded each time, for members only")
  func notifications() {
    for level in [.all, .mentions, NotificationLevel.none, nil] as [NotificationLevel?] {
      let (command, event): (RoomCommand, RoomEvent) = (
        .members(.setNotifications(level)), .members(.notificationsSet(carol, level))
      )
      room().when(command, by: .user(carol)).thenRecorded(event)
      room([event]).when(command, by: .user(carol)).thenRecorded(event)
      room().when(command, by: .user(newcomer)).thenRejected(.roomNotFound)
      room().when(command, by: .service()).thenRejected(.forbidden)
      room([.lifecycle(.archived)]).when(command, by: .user(carol)).thenRecorded(event)
    }
    #expect(room([.members(.notificationsSet(carol, .mentions))]).state.room?.members == room().state.room?.members)
  }

  @Test("a direct room can be hidden by its members, and is recorded each time")
  func hides() {
    let direct =
      [RoomEvent.lifecycle(.created(.direct(alice, bob)))]
      + [alice, bob].map { RoomEvent.members(.added($0, role: .member)) }
    for (isHidden, event) in [(true, .members(.hidden(bob))), (false, .members(.shown(bob)))] as [(Bool, RoomEvent)] {
      let command = RoomCommand.members(.setHidden(isHidden))
      given(RoomDecider.self, direct).when(command, by: .user(bob)).thenRecorded(event)
      given(RoomDecider.self, direct + [event]).when(command, by: .user(bob)).thenRecorded(event)
      given(RoomDecider.self, direct).when(command, by: .user(carol)).thenRejected(.roomNotFound)
      given(RoomDecider.self, direct).when(command, by: .service()).thenRejected(.forbidden)
      room().when(command, by: .user(carol)).thenRejected(.directRoomOnly)
    }
  }

  @Test("how many members a room takes", arguments: [(99_999, true), (100_000, false), (100_001, false)])
  func memberCount(count: Int, isAccepted: Bool) {
    var members: [UserID: Member] = [
      alice: Member(role: .owner, joined: .at(2), joinedOrdinal: 0, marker: 0)
    ]
    for number in 1..<UInt64(count) {
      members[id(1000 + number)] = Member(role: .member, joined: .at(3), joinedOrdinal: 0, marker: 0)
    }
    let full = Room(
      creationFingerprint: nil, created: .at(1), kind: .group, name: "tea", members: members,
      invites: [link: InviteState(invite: .giving(), created: .at(4))])
    var state = room()
    state.state = .open(full)
    for outcome in [
      state.when(.members(.join), by: .service(for: newcomer)), state.when(.members(.add(newcomer)), by: .user(alice)),
      state.when(.sharing(.acceptInvite(link)), by: .user(newcomer)),
    ] {
      if isAccepted { outcome.thenAccepted() } else { outcome.thenRejected(.tooManyMembers) }
    }
    state.when(.members(.add(id(1001))), by: .user(alice)).thenAlreadyDone(at: 3)
  }

  /// If each join copied the members, this would move 800 GB.
  @Test("a hundred thousand joins and their messages change the room in place", .timeLimit(.minutes(1)))
  func changesInPlace() {
    var state = given(RoomDecider.self, [.lifecycle(.created(.named()))]).state
    for number in 0..<UInt64(Limits.membersPerRoom) {
      let user: UserID = id(1000 + number)
      RoomDecider.evolve(&state, .members(.joined(user, role: .member, invite: nil)), .at(2 * number))
      RoomDecider.evolve(&state, .messages(.sent(id(number + 1), author: user, thread: nil, nil)), .at(2 * number + 1))
    }
    RoomDecider.evolve(&state, .lifecycle(.archived), .at(400_000))
    for number in 0..<UInt64(Limits.membersPerRoom) {
      RoomDecider.evolve(&state, .members(.left(id(1000 + number))), .at(400_001 + number))
    }
    #expect(state.room?.lastOrdinal == UInt64(Limits.membersPerRoom))
    #expect(state.room?.members.isEmpty == true)
  }
}
