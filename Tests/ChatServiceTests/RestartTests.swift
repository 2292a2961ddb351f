import ChatDomain
import ChatPrimitives
import ChatProjections
import ChatService
import EventLog
import EventStore
import Foundation
import Testing

@Suite("A restart")
struct RestartTests {
  /// Creates some of everything on which decisions depend.
  private func createActivity(_ fixture: ServiceFixture) async throws {
    let chat = fixture.chat
    let (alice, bob, carol) = (try await fixture.user(1), try await fixture.user(2), try await fixture.user(3))
    let (asAlice, asBob) = (Principal(user: alice), Principal(user: bob))
    let room: RoomID = fixed(10)
    _ = try await chat.performRoom(
      room, .lifecycle(.create(RoomCreation(kind: .group, name: "tea", creator: alice))), by: asAlice)
    _ = try await chat.createInvite(
      ChatService.NewInvite(id: fixed(11), role: .member, maximumUses: 3), for: room, by: asAlice)
    _ = try await chat.acceptInvite(.token(chat.token(of: fixed(11), in: room)), by: asBob, command: fixed(12))
    _ = try await chat.performRoom(room, .members(.add(carol)), by: asAlice)
    for number in 0..<50 { _ = try await fixture.send("message \(number)", 100 + UInt64(number), to: room, by: alice) }
    _ = try await chat.performRoom(
      room, .messages(.edit(fixed(100), .plain("edited"))), by: asAlice, command: fixed(13))
    _ = try await chat.performRoom(room, .messages(.delete(fixed(101))), by: asAlice, command: fixed(14))
    _ = try await chat.performRoom(room, .reading(.moveMarker(to: fixed(120))), by: asBob, command: fixed(15))
    _ = try await chat.performRoom(room, .reading(.markUnread(from: fixed(110))), by: asBob, command: fixed(33))
    _ = try await chat.setPreferences(
      PreferencesEdit(
        sharesReadMarkers: false, notifications: .mentions, mutedKinds: [.reaction, .added],
        quietHours: .set(
          QuietHours(
            from: try #require(TimeOfDay("22:00")), to: try #require(TimeOfDay("07:00")), timeZone: "Asia/Seoul")),
        showsPreviews: false), by: asBob, command: fixed(34))
    _ = try await chat.setPreferences(
      PreferencesEdit(acceptsDirectMessages: false, sharesPresence: false), by: Principal(user: carol),
      command: fixed(38))
    _ = try await chat.block(carol, by: asBob, command: fixed(35))
    _ = try await chat.block(alice, by: asBob, command: fixed(36))
    _ = try await chat.unblock(alice, by: asBob, command: fixed(37))
    let tomorrow = ChatService.now().adding(milliseconds: 86_400_000)
    for number: UInt64 in 40..<44 {
      _ = try await chat.perform(
        chat.schedule(.plain("text \(number)"), as: fixed(number), to: room, at: tomorrow, by: asBob))
    }
    _ = try await chat.performRoom(room, .scheduling(.cancel(fixed(40))), by: asBob)
    let edit = ScheduledMessageEdit(text: "changed", sendAt: tomorrow.adding(milliseconds: 5))
    _ = try await chat.performRoom(room, .scheduling(.change(fixed(41), edit)), by: asBob)
    _ = try await chat.performRoom(room, .members(.mute(until: Timestamp.latest)), by: asBob, command: fixed(16))
    _ = try await chat.performRoom(room, .members(.leave), by: Principal(user: carol), command: fixed(17))
    _ = try await chat.performRoom(room, .members(.add(carol)), by: asAlice, command: fixed(18))
    _ = try await chat.performRoom(room, .members(.remove(carol)), by: asAlice, command: fixed(19))
    _ = try await chat.performRoom(room, .sharing(.revokeInvite(fixed(11))), by: asAlice, command: fixed(25))
    let session: SessionID = fixed(20)
    _ = try await chat.startSession(
      .given(session), device: fixed(21), by: Principal(user: alice, service: ServiceFixture.service))
    _ = try await chat.refreshSession(session, of: alice, presented: 1)
    _ = try await chat.setDevice(
      fixed(21), DeviceDescription(name: "phone", type: nil, osVersion: nil, tokens: []), by: asAlice,
      command: fixed(22))
    let token = PushToken(provider: .fcm, token: "dead")
    _ = try await chat.setDevice(
      fixed(26), DeviceDescription(name: "tablet", type: nil, osVersion: nil, tokens: [token]), by: asBob,
      command: fixed(27))
    try await chat.invalidatePushToken(token, of: fixed(26), of: bob)
    _ = try await chat.setDevice(
      fixed(28), DeviceDescription(name: "old", type: nil, osVersion: nil, tokens: []), by: asBob, command: fixed(29))
    _ = try await chat.startSession(
      .given(fixed(24)), device: fixed(28), by: Principal(user: bob, service: ServiceFixture.service))
    _ = try await chat.removeDevice(fixed(28), by: asBob, command: fixed(32))
    _ = try await chat.startSession(
      .given(fixed(23)), device: nil, by: Principal(user: bob, service: ServiceFixture.service))
    _ = try await chat.endSession(fixed(23), by: asBob, command: nil)
    try await liveWithIdentities(fixture, alice, bob)
    _ = try await chat.performRoom(
      fixed(30), .lifecycle(.create(RoomCreation(kind: .channel, name: "old", creator: bob))), by: asBob)
    _ = try await chat.performRoom(fixed(30), .lifecycle(.archive), by: asBob, command: fixed(31))
    try await liveInWorkspaces(chat, alice, bob, carol)
  }

  /// Creates Alice's workspace with a channel in which Bob is banned and Carol, who has left, was silenced; a deleted
  /// channel; a deleted workspace; and a direct room.
  private func liveInWorkspaces(_ chat: ChatService, _ alice: UserID, _ bob: UserID, _ carol: UserID) async throws {
    let (asAlice, asBob, asCarol) = (Principal(user: alice), Principal(user: bob), Principal(user: carol))
    let (office, doomed): (WorkspaceID, WorkspaceID) = (fixed(60), fixed(61))
    for workspace in [office, doomed] {
      _ = try await chat.performWorkspace(
        workspace, .lifecycle(.create(WorkspaceCreation(name: "office", creator: alice))), by: asAlice)
    }
    _ = try await chat.createInvite(
      ChatService.NewInvite(id: fixed(62), role: WorkspaceRole.guest), for: office,
      by: asAlice)
    _ = try await chat.acceptInvite(.token(chat.token(of: fixed(62), in: office)), by: asBob, command: fixed(63))
    _ = try await chat.performWorkspace(office, .invitations(.invite(carol, .member)), by: asAlice, command: fixed(64))
    _ = try await chat.joinWorkspace(office, by: asCarol, command: fixed(65))
    _ = try await chat.performWorkspace(office, .members(.changeRole(bob, .member)), by: asAlice, command: fixed(66))
    _ = try await chat.performWorkspace(doomed, .invitations(.invite(carol, .member)), by: asAlice, command: fixed(67))
    let (general, gone): (RoomID, RoomID) = (fixed(40), fixed(41))
    for (channel, workspace) in [(general, office), (gone, doomed)] {
      let creation = RoomCreation(
        kind: .channel, name: "general", creator: alice, workspace: workspace, isPublic: true, topic: "all")
      _ = try await chat.performRoom(channel, .lifecycle(.create(creation)), by: asAlice)
    }
    for (number, by) in [(68, asBob), (69, asCarol)] as [(UInt64, Principal)] {
      _ = try await chat.performRoom(general, .members(.join), by: by, command: fixed(number))
    }
    _ = try await chat.performRoom(general, .members(.changeRole(bob, .administrator)), by: asAlice, command: fixed(70))
    _ = try await chat.performRoom(general, .members(.silence(carol, until: .latest)), by: asBob, command: fixed(71))
    _ = try await chat.performRoom(general, .members(.ban(bob)), by: asAlice, command: fixed(72))
    _ = try await chat.performWorkspace(office, .members(.leave), by: asCarol, command: fixed(73))
    _ = try await chat.performWorkspace(doomed, .lifecycle(.delete), by: asAlice, command: fixed(74))
    _ = try await chat.directRoom(with: [bob], by: asAlice)
    _ = try await chat.performRoom(
      fixed(42), .lifecycle(.create(RoomCreation(kind: .group, name: "opened again", creator: bob))), by: asBob)
    for (number, command) in [(75, .lifecycle(.archive)), (76, .lifecycle(.restore))] as [(UInt64, RoomCommand)] {
      _ = try await chat.performRoom(fixed(42), command, by: asBob, command: fixed(number))
    }
  }

  /// Creates the account state apart from sessions, including events in another user's stream and in the server's
  /// stream.
  private func liveWithIdentities(_ fixture: ServiceFixture, _ alice: UserID, _ bob: UserID) async throws {
    let chat = fixture.chat
    let (asAlice, asBob) = (Principal(user: alice), Principal(user: bob))
    let service = Principal(service: ServiceFixture.service)
    let token = PushToken(provider: .apns, token: "wandering")
    for (device, principal) in [(40, asAlice), (41, asBob)] as [(UInt64, Principal)] {
      _ = try await chat.setDevice(
        fixed(device),
        DeviceDescription(
          name: nil, type: nil, osVersion: nil, tokens: [token, PushToken(provider: .webPush, token: "e k s")],
          notifications: .mentions, apnsEnvironment: .sandbox, language: "ko", roomChanges: true),
        by: principal, command: nil)
    }
    let picture = try await fixture.upload([1, 2, 3], by: alice).row.id
    _ = try await chat.changeProfile(ProfileEdit(picture: .set(picture)), by: asAlice, command: nil)
    let reset = try await chat.passwordReset(of: alice).token
    _ = try await chat.resetPassword(token: reset, to: "red kettle on the hob")
    _ = try await chat.setEmail(
      "alice@example.org", password: nil, by: Principal(user: alice, service: service.service), command: nil)
    _ = try await chat.startSession(
      .given(fixed(43)), as: Identity(issuer: "https://id.example.org", subject: "d"), nickname: "Dave",
      newUser: fixed(44), device: nil)
    _ = try await chat.link(
      Identity(issuer: "https://id.example.org", subject: "b"), proof: nil,
      by: Principal(user: bob, service: ServiceFixture.service), command: nil)
    _ = try await chat.user(withTokenOf: "crm-9", nickname: nil, newUser: fixed(45))
    _ = try await chat.disable(fixed(44), by: service, command: fixed(46))
    _ = try await chat.rotateSigningKey(by: service, command: fixed(47))
    _ = try await chat.placeLegalHold(LegalHold(.user(fixed(1)), reason: "case 7"), by: service, command: nil)
  }

  @Test("the state restored from the read models is the state that the log evolves to")
  func restoresState() async throws {
    let fixture = try await ServiceFixture()
    try await createActivity(fixture)
    let store = fixture.chat.store
    try await fixture.chat.readModels.waitForAll(store.head, timeoutMilliseconds: 120_000)
    let knownIDs = KnownIDs(KnownIDFilter(), newest: .origin)
    let restored = try await DecisionState(
      restoring: DecisionStateSource(fixture.chat.readModels), knownIDs: knownIDs, floor: store.head)
    var evolved = DecisionState(knownIDs: knownIDs, floor: .origin)
    for event in try store.events(after: .origin, limit: .max) { evolved.take(event) }
    #expect(restored.users == evolved.users)
    #expect(restored.rooms == evolved.rooms)
    #expect(restored.names == evolved.names)
    #expect(restored.serverVersion == evolved.serverVersion)
    #expect(restored.signingKeys == evolved.signingKeys && restored.signingKeys.current == 2)
    #expect(restored.names.devices(holding: PushToken(provider: .apns, token: "wandering")).map(\.user) == [fixed(2)])
    #expect(restored.usage == evolved.usage)
    // Every user who caused an event is counted.
    #expect(restored.usage.users.count == 4)
    #expect(restored.workspaces == evolved.workspaces)
    #expect(restored.spaces == evolved.spaces && restored.items == evolved.items)
    #expect(restored.directRooms == evolved.directRooms)
    #expect(restored.holds == evolved.holds && restored.holds != LegalHolds())
    #expect(restored.channels.filter { !$0.value.isEmpty } == evolved.channels.filter { !$0.value.isEmpty })
    // Deleted rooms and workspaces are looked up, not restored.
    #expect(restored.rooms.count == 5 && restored.workspaces.count == 1)
    #expect(restored.rooms[fixed(41)] == nil && restored.workspaces[fixed(61)] == nil)
    let ended = try await fixture.chat.readModels.endings(of: [.room(fixed(41)), .workspace(fixed(61))])
    #expect(ended.endings.count == 2)
    guard let general = restored.rooms[fixed(40)]?.state.room else {
      Issue.record("not what was lived")
      return
    }
    #expect(general.banned.keys.contains(fixed(2)) && general.isPublic && general.workspace == fixed(60))
    #expect(general.silencedAway.count == 1)
    #expect(restored.rooms[fixed(10)]?.state.room?.scheduled.byID.count == 3)
    try fixture.close()
  }

  @Test("starting reads the log's tail, not the log")
  func readsTheTail() async throws {
    let first = try await ServiceFixture(keepsDirectory: true)
    try await createActivity(first)
    let room: RoomID = fixed(10)
    // Messages are sent one at a time, so that each is in its own block.
    for number in 0..<300 { _ = try await first.send("more \(number)", 1_000 + UInt64(number), to: room, by: fixed(1)) }
    try await first.chat.readModels.waitForAll(first.chat.store.head, timeoutMilliseconds: 120_000)
    let head = first.chat.store.head
    try first.close()

    let second = try await ServiceFixture(directory: first.directory)
    #expect(second.chat.store.head == head)
    #expect(second.log.blocksRead <= 2)
    #expect(try await second.send("more 7", 1_007, to: room, by: fixed(1)).isNew == false)
    #expect(try await second.send("after", 5_000, to: room, by: fixed(1)).stamp.position == head.next)
    try second.close()
  }

  @Test("without the read models it reads the whole log, and comes to the same state")
  func readsEverythingWhenItMust() async throws {
    let first = try await ServiceFixture(keepsDirectory: true)
    try await createActivity(first)
    let head = first.chat.store.head
    try first.close()
    try FileManager.default.removeItem(atPath: first.directory + "/views")
    let second = try await ServiceFixture(directory: first.directory)
    #expect(second.chat.store.head == head)
    #expect(second.log.blocksRead > 2)
    #expect(try await second.chat.room(fixed(10), for: fixed(2)).0.unreadCount == 40)
    try second.close()
  }

  @Test("without its key file a log that has events is not opened")
  func needsItsKey() async throws {
    let first = try await ServiceFixture(keepsDirectory: true)
    _ = try await first.user(1)
    try first.close()
    try FileManager.default.removeItem(atPath: first.directory + "/" + ServerKeys.fileName)
    await #expect(throws: KeyFileError.self) { _ = try await ServiceFixture(directory: first.directory) }
    try FileManager.default.removeItem(atPath: first.directory)
  }
}
