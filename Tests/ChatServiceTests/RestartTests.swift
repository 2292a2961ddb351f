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
  /// Some of everything that decisions rest on.
  private func live(_ bench: ServiceBench) async throws {
    let chat = bench.chat
    let (alice, bob, carol) = (try await bench.user(1), try await bench.user(2), try await bench.user(3))
    let (asAlice, asBob) = (Principal(user: alice), Principal(user: bob))
    let room: RoomID = fixed(10)
    _ = try await chat.performRoom(room, .create(RoomCreation(kind: .group, name: "tea", creator: alice)), by: asAlice)
    _ = try await chat.createInvite(
      ChatService.NewInvite(id: fixed(11), role: .member, expiresAt: nil, maximumUses: 3), for: room, by: asAlice)
    _ = try await chat.acceptInvite(token: chat.token(of: fixed(11), in: room), by: asBob, command: fixed(12))
    _ = try await chat.performRoom(room, .addMember(carol), by: asAlice)
    for number in 0..<50 { _ = try await bench.send("message \(number)", 100 + UInt64(number), to: room, by: alice) }
    _ = try await chat.performRoom(
      room, .editMessage(fixed(100), .plain("edited"), target: nil), by: asAlice, command: fixed(13))
    _ = try await chat.performRoom(room, .deleteMessage(fixed(101), target: nil), by: asAlice, command: fixed(14))
    _ = try await chat.performRoom(room, .moveReadMarker(fixed(120), target: nil), by: asBob, command: fixed(15))
    _ = try await chat.performRoom(room, .mute(until: Timestamp.latest), by: asBob, command: fixed(16))
    _ = try await chat.performRoom(room, .leave, by: Principal(user: carol), command: fixed(17))
    _ = try await chat.performRoom(room, .addMember(carol), by: asAlice, command: fixed(18))
    _ = try await chat.performRoom(room, .removeMember(carol), by: asAlice, command: fixed(19))
    _ = try await chat.performRoom(room, .revokeInvite(fixed(11)), by: asAlice, command: fixed(25))
    let session: SessionID = fixed(20)
    _ = try await chat.startSession(
      session, device: fixed(21), by: Principal(user: alice, service: ServiceBench.service))
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
      fixed(24), device: fixed(28), by: Principal(user: bob, service: ServiceBench.service))
    _ = try await chat.removeDevice(fixed(28), by: asBob, command: fixed(32))
    _ = try await chat.startSession(
      fixed(23), device: nil, by: Principal(user: bob, service: ServiceBench.service))
    _ = try await chat.endSession(fixed(23), by: asBob, command: nil)
    _ = try await chat.performRoom(
      fixed(30), .create(RoomCreation(kind: .channel, name: "old", creator: bob)), by: asBob)
    _ = try await chat.performRoom(fixed(30), .archive, by: asBob, command: fixed(31))
  }

  @Test("the state restored from the read models is the state that the log evolves to")
  func restoresState() async throws {
    let bench = try await ServiceBench()
    try await live(bench)
    let store = bench.chat.store
    try await bench.chat.views.waitForAll(store.head)
    let seen = SeenIDs(SeenFilter(), newest: .origin)
    let restored = try DecisionState(
      restoring: DecisionStateSource(bench.chat.views), seen: seen, floor: store.head)
    var evolved = DecisionState(seen: seen, floor: .origin)
    for event in try store.events(after: .origin, limit: .max) { evolved.take(event) }
    #expect(restored.users == evolved.users)
    #expect(restored.rooms == evolved.rooms)
    #expect(restored.names == evolved.names)
    #expect(restored.serverVersion == evolved.serverVersion)
    #expect(restored.usage == evolved.usage)
    #expect(restored.usage.users.count == 1)
    #expect(restored.rooms.count == 2)
    try bench.close()
  }

  @Test("starting reads the log's tail, not the log")
  func readsTheTail() async throws {
    let first = try await ServiceBench(keepsDirectory: true)
    try await live(first)
    let room: RoomID = fixed(10)
    // One at a time, so that each stands in a block of its own.
    for number in 0..<300 { _ = try await first.send("more \(number)", 1_000 + UInt64(number), to: room, by: fixed(1)) }
    try await first.chat.views.waitForAll(first.chat.store.head)
    let head = first.chat.store.head
    try first.close()

    let second = try await ServiceBench(directory: first.directory)
    #expect(second.chat.store.head == head)
    #expect(second.log.blocksRead <= 2)
    #expect(try await second.send("more 7", 1_007, to: room, by: fixed(1)).isNew == false)
    #expect(try await second.send("after", 5_000, to: room, by: fixed(1)).stamp.position == head.next)
    try second.close()
  }

  @Test("without the read models it reads the whole log, and comes to the same state")
  func readsEverythingWhenItMust() async throws {
    let first = try await ServiceBench(keepsDirectory: true)
    try await live(first)
    let head = first.chat.store.head
    try first.close()
    try FileManager.default.removeItem(atPath: first.directory + "/views")
    let second = try await ServiceBench(directory: first.directory)
    #expect(second.chat.store.head == head)
    #expect(second.log.blocksRead > 2)
    #expect(try await second.chat.room(fixed(10), for: fixed(2)).0.unreadCount == 29)
    try second.close()
  }

  @Test("without its key file a log that has events is not opened")
  func needsItsKey() async throws {
    let first = try await ServiceBench(keepsDirectory: true)
    _ = try await first.user(1)
    try first.close()
    try FileManager.default.removeItem(atPath: first.directory + "/" + ServerKeys.fileName)
    await #expect(throws: KeyFileError.self) { _ = try await ServiceBench(directory: first.directory) }
    try FileManager.default.removeItem(atPath: first.directory)
  }
}
