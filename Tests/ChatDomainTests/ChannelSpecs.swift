import ChatDomain
import ChatPrimitives
import Testing

@Suite("Channels")
struct ChannelSpecs {
  private let newcomer: UserID = id(60)

  /// A channel that carol owns. Bob and dave are not in it: in the workspace, bob is an administrator and dave a guest.
  private func channel(isPublic: Bool = true, then later: [RoomEvent] = []) -> Given<RoomDecider> {
    given(
      RoomDecider.self,
      [
        .lifecycle(.created(.channel(isPublic: isPublic, by: carol))),
        .members(.joined(carol, role: .owner, invite: nil)),
        .members(.added(alice, role: .member)), .sharing(.inviteCreated(.giving())),
      ] + later
    ).with(.ofOffice(and: newcomer))
  }

  @Test("members of the workspace create channels, guests cannot, and strangers learn nothing")
  func creates() {
    func creating(by user: UserID) -> Outcome<RoomDecider> {
      given(RoomDecider.self, []).with(.ofOffice(and: newcomer)).when(
        .lifecycle(.create(.channel(by: user))), by: .user(user))
    }
    for user in [alice, bob, carol] { creating(by: user).thenAccepted() }
    creating(by: dave).thenRejected(.forbidden)
    creating(by: newcomer).thenRejected(.workspaceNotFound)
    given(RoomDecider.self, []).with(.ofOffice()).when(.lifecycle(.create(.channel(by: nil))), by: .service())
      .thenAccepted()
    given(RoomDecider.self, []).when(.lifecycle(.create(.channel(by: nil))), by: .service()).thenRejected(
      .workspaceNotFound)
  }

  @Test("how many channels a workspace has", arguments: [(999, true), (1_000, false), (1_001, false)])
  func count(count: UInt64, isAccepted: Bool) {
    let rooms = (0..<count).map { (RoomID(UUIDBytes(high: 7, low: $0)), Room(.channel(), .at(1))) }
    let outcome = given(RoomDecider.self, []).with(.ofOffice(rooms: Dictionary(uniqueKeysWithValues: rooms)))
      .when(.lifecycle(.create(.channel())), by: .user(alice))
    if isAccepted { outcome.thenAccepted() } else { outcome.thenRejected(.tooManyChannels) }
  }

  @Test("members of the workspace except guests can join a public channel; nobody can join a private one")
  func joins() {
    channel().when(.members(.join), by: .user(bob)).thenRecorded(.members(.joined(bob, role: .member, invite: nil)))
    channel().when(.members(.join), by: .user(alice)).thenAlreadyDone(at: 3)
    for user in [dave, newcomer] { channel().when(.members(.join), by: .user(user)).thenRejected(.roomNotFound) }
    for user in [bob, dave, newcomer] {
      channel(isPublic: false).when(.members(.join), by: .user(user)).thenRejected(.roomNotFound)
    }
    channel(then: [.members(.banned(bob))]).when(.members(.join), by: .user(bob)).thenRejected(.banned)
    channel(then: [.lifecycle(.archived)]).when(.members(.join), by: .user(bob)).thenRejected(.roomArchived)
  }

  @Test("the first user who joins an empty public channel owns it")
  func inheritsEmptyChannel() {
    channel(then: [.members(.left(alice)), .members(.left(carol))]).when(.members(.join), by: .user(bob))
      .thenRecorded(.members(.joined(bob, role: .owner, invite: nil)))
  }

  @Test("only members of its workspace, guests included, can become members of a channel", arguments: [true, false])
  func takesInMembers(isPublic: Bool) {
    let channel = channel(isPublic: isPublic)
    channel.when(.members(.add(dave)), by: .user(carol)).thenRecorded(.members(.added(dave, role: .member)))
    channel.when(.sharing(.acceptInvite(link)), by: .user(dave)).thenAccepted()
    channel.when(.members(.join), by: .service(for: dave)).thenAccepted()
    channel.when(.members(.add(newcomer)), by: .user(carol)).thenRejected(.workspaceMembersOnly)
    channel.when(.sharing(.acceptInvite(link)), by: .user(newcomer)).thenRejected(.workspaceMembersOnly)
    channel.when(.members(.join), by: .service(for: newcomer)).thenRejected(.workspaceMembersOnly)
  }

  @Test("the workspace's administrators manage its public channels without joining, but cannot read or write there")
  func oversees() {
    let tending: [RoomCommand] = [
      .lifecycle(.edit(RoomEdit(topic: "news"))), .lifecycle(.archive), .lifecycle(.delete), .members(.remove(alice)),
      .members(.ban(alice)), .members(.add(dave)),
      .members(.silence(alice, until: noon)), .sharing(.createInvite(.giving(.administrator, id: id(31)))),
      .members(.changeRole(alice, .administrator)),
    ]
    for command in tending {
      channel().when(command, by: .user(bob)).thenAccepted()
      channel(isPublic: false).when(command, by: .user(bob)).thenRejected(.roomNotFound)
      channel().when(command, by: .user(dave)).thenRejected(.roomNotFound)
    }
    // They have power over the channel, but not over its owner.
    channel().when(.members(.remove(carol)), by: .user(bob)).thenRejected(.forbidden)
    channel().when(.members(.transfer(to: alice)), by: .user(bob)).thenRejected(.roomNotFound)
    for command: RoomCommand in [
      .send(), .members(.mute(until: nil)), .members(.setNotifications(nil)), .messages(.delete(hello)),
    ] {
      channel().knowing(hello, .of(carol, at: 6)).when(command, by: .user(bob)).thenRejected(.roomNotFound)
    }
  }

  @Test("as members they are administrators of a public channel, and have their own role in a private one")
  func overseesAsMember() {
    channel().when(.lifecycle(.edit(RoomEdit(name: "news"))), by: .user(alice)).thenAccepted()
    channel().when(.lifecycle(.delete), by: .user(alice)).thenAccepted()
    channel().knowing(hello, .of(carol, at: 6)).when(.messages(.delete(hello)), by: .user(alice)).thenAccepted()
    let closed = channel(isPublic: false).knowing(hello, .of(carol, at: 6))
    for command: RoomCommand in [
      .lifecycle(.edit(RoomEdit(name: "news"))), .lifecycle(.delete), .messages(.delete(hello)),
    ] {
      closed.when(command, by: .user(alice)).thenRejected(.forbidden)
    }
  }

  @Test("rights from the workspace's role end with the role")
  func raisesNobody() {
    let joined = channel(then: [.members(.joined(bob, role: .member, invite: nil))])
    joined.when(.members(.changeRole(bob, .administrator)), by: .user(bob)).thenRejected(.roleNotAllowed)
    joined.when(.members(.changeRole(bob, .member)), by: .user(bob)).thenAccepted()
    channel(then: [.members(.joined(bob, role: .administrator, invite: nil))])
      .when(.members(.changeRole(bob, .administrator)), by: .user(bob)).thenAccepted()
    channel().when(.members(.changeRole(bob, .member)), by: .user(bob)).thenRejected(.memberNotFound)
  }

  @Test("their invites give administrator rights only while they are administrators of the workspace")
  func capsRole() {
    for (role, given): (WorkspaceRole, Role) in [(.administrator, .administrator), (.member, .member)] {
      var room = channel()
      RoomDecider.evolve(&room.state, .sharing(.inviteCreated(.giving(.administrator, id: id(31)))), .at(9), by: bob)
      room.directory.workspaces[office]?[bob] = role
      room.when(.sharing(.acceptInvite(id(31))), by: .user(dave))
        .thenRecorded(.members(.joined(dave, role: given, invite: id(31))))
    }
  }

  // MARK: Effects of workspace events

  private let general: RoomID = id(90)
  private let secret: RoomID = id(91)
  private let foreign: RoomID = id(92)

  private var directory: TestDirectory {
    let other = given(
      RoomDecider.self, [.lifecycle(.created(.channel(of: id(81)))), .members(.added(alice, role: .member))])
    let without = given(
      RoomDecider.self, [.lifecycle(.created(.channel(by: bob))), .members(.added(bob, role: .owner))])
    var rooms: [RoomID: Room] = [:]
    rooms[general] = channel().state.room
    rooms[secret] = without.state.room
    rooms[foreign] = other.state.room
    return .ofOffice(rooms: rooms)
  }

  private func consequences(of event: WorkspaceEvent) -> [ChatEvent] {
    WorkspaceDecider.consequences(of: [event], in: office, directory)
  }

  @Test("a user who leaves or is removed from the workspace leaves its channels, which keep an owner")
  func leavesWithWorkspace() {
    #expect(consequences(of: .members(.left(alice))) == [.room(general, .members(.left(alice)))])
    #expect(consequences(of: .members(.removed(alice))) == [.room(general, .members(.removed(alice)))])
    #expect(
      consequences(of: .members(.removed(carol))) == [
        .room(general, .members(.removed(carol))), .room(general, .members(.roleChanged(alice, .owner))),
      ])
    #expect(consequences(of: .members(.left(bob))) == [.room(secret, .members(.left(bob)))])
    #expect(consequences(of: .members(.left(dave))).isEmpty)
    #expect(consequences(of: .members(.roleChanged(alice, .guest))).isEmpty)
  }

  /// If each channel needed a look at all of its members, this would take 100 million steps.
  @Test(
    "the largest departure: a thousand channels of one owner, each with a hundred thousand members",
    .timeLimit(.minutes(1)))
  func leavesManyChannels() {
    var members: [UserID: Member] = [carol: Member(role: .owner, joined: .at(2), joinedOrdinal: 0, marker: 0)]
    for number in 1..<UInt64(Limits.membersPerRoom) {
      members[id(1000 + number)] = Member(role: .member, joined: .at(number + 2), joinedOrdinal: 0, marker: 0)
    }
    var room = Room(creationFingerprint: nil, created: .at(1), kind: .channel, name: "tea", members: members)
    room.workspace = office
    let channels = (0..<UInt64(Limits.channelsPerWorkspace)).map { (RoomID(UUIDBytes(high: 7, low: $0)), room) }
    let events = WorkspaceDecider.consequences(
      of: [.members(.left(carol))], in: office,
      TestDirectory.ofOffice(rooms: Dictionary(uniqueKeysWithValues: channels)))
    // Together with the departure from the workspace itself, this is the largest command possible.
    #expect(events.count == 2 * Limits.channelsPerWorkspace)
    #expect(
      events
        == channels.flatMap {
          [.room($0.0, .members(.left(carol))), .room($0.0, .members(.roleChanged(id(1001), .owner)))]
        })
  }

  @Test("deleting the workspace deletes its channels")
  func goesWithWorkspace() {
    #expect(
      consequences(of: .lifecycle(.deleted)) == [
        .room(general, .lifecycle(.deleted)), .room(secret, .lifecycle(.deleted)),
      ])
  }
}
