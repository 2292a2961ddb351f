import ChatDomain
import ChatPrimitives
import Testing

/// Direct rooms of a workspace. In the office, alice, bob and carol are members and dave is a guest.
@Suite("Direct rooms of a workspace")
struct WorkspaceDirectRoomSpecs {
  private static let room: RoomID = id(30)

  private func creating(
    _ users: UserID..., in directory: TestDirectory = .ofOffice(), after events: [RoomEvent] = []
  ) -> Outcome<RoomDecider> {
    var creation = RoomCreation.direct(in: office)
    (creation.creator, creation.participants) = (users[0], users.sorted())
    return given(RoomDecider.self, events).with(directory).when(.lifecycle(.create(creation)), by: .user(users[0]))
  }

  private func direct(then later: [RoomEvent] = []) -> [RoomEvent] {
    [.lifecycle(.created(.direct(alice, bob, in: office)))]
      + [alice, bob].map { RoomEvent.members(.added($0, role: .member)) } + later
  }

  /// The office without these users.
  private func directory(without users: UserID...) -> TestDirectory {
    var directory = TestDirectory.ofOffice()
    for user in users { directory.workspaces[office]?[user] = nil }
    return directory
  }

  @Test("are created by members who are not guests, with members")
  func creates() {
    creating(alice, bob).thenAccepted()
    creating(alice, bob, dave).thenAccepted()
    creating(dave, alice).thenRejected(.forbidden)
    creating(carol, bob, in: directory(without: bob)).thenRejected(.workspaceMembersOnly)
    creating(bob, carol, in: directory(without: bob)).thenRejected(.workspaceNotFound)
    creating(alice, bob, in: TestDirectory()).thenRejected(.workspaceNotFound)
  }

  @Test(
    "how many a user has in a workspace",
    arguments: [
      (Limits.directRoomsPerUserAndWorkspace - 1, true), (Limits.directRoomsPerUserAndWorkspace, false),
      (Limits.directRoomsPerUserAndWorkspace + 1, false),
    ])
  func count(count: Int, isAccepted: Bool) {
    for user in [alice, bob] {
      var directory = TestDirectory.ofOffice()
      directory.directRooms[user] = Set((0..<UInt64(count)).map { id(10_000 + $0) })
      let outcome = creating(alice, bob, in: directory)
      if isAccepted { outcome.thenAccepted() } else { outcome.thenRejected(.tooManyDirectRooms) }
    }
  }

  @Test("are no channels: many of them do not use up the channels of a workspace")
  func noChannels() {
    let channel = RoomCommand.lifecycle(.create(.channel()))
    let rooms = (0..<UInt64(Limits.channelsPerWorkspace)).map {
      (RoomID(UUIDBytes(high: 7, low: $0)), Room(.direct(alice, bob, in: office), .at(1)))
    }
    given(RoomDecider.self, []).with(.ofOffice(rooms: Dictionary(uniqueKeysWithValues: rooms)))
      .when(channel, by: .user(alice)).thenAccepted()
  }

  @Test("a member who leaves or is removed leaves them, and the others keep them")
  func leaving() {
    var directory = TestDirectory.ofOffice()
    directory.directRooms[bob] = [Self.room]
    for (event, consequence) in [
      (WorkspaceEvent.members(.left(bob)), RoomEvent.members(.left(bob))),
      (.members(.removed(bob)), .members(.removed(bob))),
    ] as [(WorkspaceEvent, RoomEvent)] {
      #expect(
        WorkspaceDecider.consequences(of: [event], in: office, directory)
          == [.room(Self.room, consequence)])
    }
    #expect(WorkspaceDecider.consequences(of: [.members(.left(alice))], in: office, directory) == [])
    #expect(WorkspaceDecider.consequences(of: [.lifecycle(.deleted)], in: office, directory) == [])
  }

  @Test("a member who is left alone can only read")
  func alone() {
    let left = direct(then: [.members(.left(bob))])
    given(RoomDecider.self, left).with(directory(without: bob)).when(.send(), by: .user(alice))
      .thenRejected(.directMessagesRefused)
    given(RoomDecider.self, left).with(directory(without: bob)).when(.members(.mute(until: nil)), by: .user(alice))
      .thenAccepted()
    given(RoomDecider.self, left).with(directory(without: bob)).when(.send(), by: .user(bob)).thenRejected(
      .roomNotFound)
    given(RoomDecider.self, direct()).with(.ofOffice()).when(.send(), by: .user(alice)).thenAccepted()
    // The workspace was deleted.
    given(RoomDecider.self, direct()).with(TestDirectory()).when(.send(), by: .user(alice))
      .thenRejected(.directMessagesRefused)
  }

  @Test("the next request brings back who has returned to the workspace")
  func returning() {
    let left = direct(then: [.members(.left(bob))])
    creating(alice, bob, in: directory(without: bob), after: left).thenAlreadyDone(at: 1)
    creating(bob, alice, in: directory(without: bob), after: left).thenRejected(.workspaceNotFound)
    creating(bob, alice, after: left).thenRecordedAgain(.members(.joined(bob, role: .member, invite: nil)))
    creating(alice, bob, after: left).thenRecordedAgain(.members(.added(bob, role: .member)))
    creating(alice, bob, after: direct()).thenAlreadyDone(at: 1)
    var refusing = TestDirectory.ofOffice()
    refusing.contacts[bob] = ContactRules(directRooms: .nobody)
    creating(alice, bob, in: refusing, after: left).thenAlreadyDone(at: 1)
    creating(bob, alice, in: refusing, after: left)
      .thenRecordedAgain(.members(.joined(bob, role: .member, invite: nil)))
  }
}
