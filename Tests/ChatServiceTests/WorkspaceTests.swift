import ChatDomain
import ChatPrimitives
import ChatProjections
import ChatService
import EventStore
import Testing

@Suite("Workspaces and direct rooms, through the service")
struct WorkspaceTests {
  @Test("a user who leaves a workspace leaves its channels too, and a late retry removes nobody who rejoined")
  func leavesChannels() async throws {
    var fixture = try await ServiceFixture(keepsDirectory: true)
    var chat = fixture.chat
    let (alice, bob) = (try await fixture.user(1), try await fixture.user(2))
    let (asAlice, asBob) = (Principal(user: alice), Principal(user: bob))
    let office: WorkspaceID = fixed(60)
    _ = try await chat.performWorkspace(
      office, .lifecycle(.create(WorkspaceCreation(name: "office", creator: alice))), by: asAlice)
    _ = try await chat.performWorkspace(
      office, .members(.join), by: Principal(user: bob, service: ServiceFixture.service))
    let channels: [RoomID] = [fixed(40), fixed(41)]
    for channel in channels {
      let creation = RoomCreation(kind: .channel, name: "news", creator: bob, workspace: office, isPublic: true)
      _ = try await chat.performRoom(channel, .lifecycle(.create(creation)), by: asBob)
      _ = try await chat.performRoom(channel, .members(.join), by: asAlice)
    }
    let left = try await chat.performWorkspace(office, .members(.leave), by: asBob, command: fixed(70))
    #expect(
      left.events.map(\.event) == [
        .workspace(office, .members(.left(bob))), .room(channels[0], .members(.left(bob))),
        .room(channels[0], .members(.roleChanged(alice, .owner))), .room(channels[1], .members(.left(bob))),
        .room(channels[1], .members(.roleChanged(alice, .owner))),
      ])
    #expect(left.events.allSatisfy { $0.command == fixed(70) })
    _ = try await chat.performWorkspace(
      office, .members(.join), by: Principal(user: bob, service: ServiceFixture.service))
    _ = try await chat.performRoom(channels[0], .members(.join), by: asBob)
    // The first retry uses the writer's memory. The second comes after a restart, when only the index knows.
    for isRestarted in [false, true] {
      if isRestarted {
        try fixture.close()
        fixture = try await ServiceFixture(directory: fixture.directory)
        chat = fixture.chat
      }
      let again = try await chat.performWorkspace(office, .members(.leave), by: asBob, command: fixed(70))
      #expect(!again.isNew && again.stamp == left.stamp && again.workspace == office)
      #expect(try await chat.room(channels[0], for: bob).0.member?.role == .member)
      #expect(
        await rejection { _ = try await chat.performRoom(channels[1], .members(.leave), by: asBob, command: fixed(70)) }
          == .idempotencyKeyReused)
    }
    try fixture.close()
  }

  @Test("every request of its members for a direct room returns the same room")
  func directRoom() async throws {
    let fixture = try await ServiceFixture()
    let chat = fixture.chat
    let (alice, bob, carol) = (try await fixture.user(1), try await fixture.user(2), try await fixture.user(3))
    let first = try await chat.directRoom(with: [bob], by: Principal(user: alice))
    #expect(first.outcome.isNew)
    for (others, user) in [([bob], alice), ([bob, alice, bob], alice), ([alice], bob)] as [([UserID], UserID)] {
      let again = try await chat.directRoom(with: others, by: Principal(user: user))
      #expect(again.room == first.room && !again.outcome.isNew && again.outcome.stamp == first.outcome.stamp)
    }
    let three = try await chat.directRoom(with: [bob, carol], by: Principal(user: alice))
    #expect(three.room != first.room)
    #expect(try await chat.room(first.room, for: bob).0.participants == [alice, bob])
    #expect(await rejection { _ = try await chat.room(first.room, for: carol) } == .roomNotFound)
    try fixture.close()
  }

  @Test("a room and a workspace of one ID, each with an invite of one ID, have nothing in common")
  func sharedID() async throws {
    let fixture = try await ServiceFixture()
    let chat = fixture.chat
    let (alice, bob) = (try await fixture.user(1), try await fixture.user(2))
    let by = Principal(user: alice)
    let (room, office): (RoomID, WorkspaceID) = (fixed(10), fixed(10))
    _ = try await chat.performRoom(
      room, .lifecycle(.create(RoomCreation(kind: .group, name: "tea", creator: alice))), by: by)
    _ = try await chat.performWorkspace(
      office, .lifecycle(.create(WorkspaceCreation(name: "tea", creator: alice))), by: by)
    _ = try await chat.createInvite(
      ChatService.NewInvite(id: fixed(12), role: Role.member), for: room, by: by)
    _ = try await chat.createInvite(
      ChatService.NewInvite(id: fixed(12), role: WorkspaceRole.guest), for: office,
      by: by)
    let tokens = (chat.token(of: fixed(12), in: room), chat.token(of: fixed(12), in: office))
    #expect(tokens.0 != tokens.1)
    let intoOffice = try await chat.acceptInvite(.token(tokens.1), by: Principal(user: bob), command: nil)
    #expect(intoOffice.workspace == office && intoOffice.room == nil)
    #expect(await rejection { _ = try await chat.room(room, for: bob) } == .roomNotFound)
    _ = try await chat.performWorkspace(office, .lifecycle(.delete), by: by)
    #expect(try await chat.room(room, for: alice).0.room.name == "tea")
    #expect(await rejection { _ = try await chat.workspace(office, for: alice) } == .workspaceNotFound)
    try fixture.close()
  }

  @Test("a thousand channels go with their workspace in one command")
  func largestDeletion() async throws {
    let fixture = try await ServiceFixture()
    let chat = fixture.chat
    let alice = try await fixture.user(1)
    let by = Principal(user: alice)
    let office: WorkspaceID = fixed(60)
    _ = try await chat.performWorkspace(
      office, .lifecycle(.create(WorkspaceCreation(name: "office", creator: alice))), by: by)
    for number in 0..<UInt64(Limits.channelsPerWorkspace) {
      let creation = RoomCreation(kind: .channel, name: "news", creator: alice, workspace: office, isPublic: true)
      _ = try await chat.performRoom(fixed(1_000 + number), .lifecycle(.create(creation)), by: by)
    }
    // Commands and reads wait only five seconds, and the machine may be busy.
    try await chat.readModels.waitForAll(chat.store.head, timeoutMilliseconds: 60_000)
    let deleted = try await chat.performWorkspace(office, .lifecycle(.delete), by: by, command: fixed(70))
    #expect(deleted.events.count == Limits.channelsPerWorkspace + 1)
    try await chat.readModels.waitForAll(chat.store.head, timeoutMilliseconds: 60_000)
    #expect(try await chat.roomList(of: alice, after: nil, limit: 30).rooms.isEmpty)
    try fixture.close()
  }
}
