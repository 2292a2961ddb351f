import ChatDomain
import ChatPrimitives
import ChatProjections
import ChatService
import Logging
import Synchronization
import Testing

/// Deleted accounts with a real log and real read models.
@Suite("The eraser")
struct EraserTests {
  /// Stands for the part that rewrites the log.
  private final class Records: RecordErasing {
    let withdrawals = Atomic(0)
    let fails = Atomic(false)

    func erasedRecords(of user: UserID, deleted deletion: LogPosition) async throws(ServiceError) -> Erasure? {
      if fails.load(ordering: .relaxed) { throw .failed("the disk") }
      return Erasure(deletion: deletion, erasedRecords: 3, keptRecords: 1)
    }

    func withdrawAll() { withdrawals.add(1, ordering: .relaxed) }
  }

  private let room: RoomID = fixed(10)
  private let service = Principal(service: ServiceFixture.service)
  private let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

  /// Alice owns a room, writes, and uploads a file; Bob writes, and Alice reacts. Bob returns.
  private func conversation(_ fixture: ServiceFixture) async throws -> (alice: UserID, bob: UserID) {
    let (alice, bob) = (try await fixture.user(1), try await fixture.user(2))
    let create = RoomCommand.lifecycle(.create(RoomCreation(kind: .group, name: "tea", creator: alice)))
    _ = try await fixture.chat.performRoom(room, create, by: Principal(user: alice))
    _ = try await fixture.chat.performRoom(room, .members(.add(bob)), by: Principal(user: alice))
    _ = try await fixture.send("alice's words", 20, to: room, by: alice)
    _ = try await fixture.send("bob's words", 21, to: room, by: bob)
    _ = try await fixture.chat.performRoom(room, .annotations(.react(fixed(21), "👍")), by: Principal(user: alice))
    _ = try await fixture.upload([1, 2, 3], by: alice, name: "secret.bin")
    return (alice, bob)
  }

  private func wait(until condition: () async throws -> Bool) async throws {
    let deadline = ContinuousClock.now + .seconds(120)
    while try await !condition(), ContinuousClock.now < deadline { try await Task.sleep(for: .milliseconds(5)) }
    #expect(try await condition())
  }

  private func isComplete(_ user: UserID, _ fixture: ServiceFixture) async throws -> Bool {
    if case .complete = try await fixture.chat.erasure(of: user).progress { true } else { false }
  }

  @Test("a deletion passes the room on, frees the names, and refuses the user")
  func deletes() async throws {
    let fixture = try await ServiceFixture()
    let (alice, bob) = try await conversation(fixture)
    let outcome = try await fixture.chat.deleteAccount(of: alice, by: service, command: nil)
    #expect(outcome.events.last?.event == .user(alice, .deletion(.deleted)))
    #expect(outcome.events.contains { $0.event == .room(room, .members(.roleChanged(bob, .owner))) })
    #expect(try await fixture.chat.deleteAccount(of: alice, by: service, command: nil).isNew == false)
    #expect(await rejection { _ = try await fixture.send("late", 22, to: room, by: alice) } == .userNotFound)
    #expect(await rejection { _ = try await fixture.register(alice, externalID: "crm-1") } == .idInUse)
    #expect(try await fixture.register(fixed(3), externalID: "crm-1") == fixed(3))
    #expect(try await fixture.chat.profile(of: alice).nickname == "")
    try fixture.close()
  }

  @Test("messages, reactions and files go, also after a restart in between")
  func erases() async throws {
    let first = try await ServiceFixture(keepsDirectory: true)
    let (alice, bob) = try await conversation(first)
    _ = try await first.chat.deleteAccount(of: alice, by: service, command: nil)
    try first.close()
    let fixture = try await ServiceFixture(directory: first.directory)
    let eraser = Eraser(fixture.chat, records: Records(), logger: logger)
    try await wait { try await isComplete(alice, fixture) }
    let page = try await fixture.chat.messages(of: room, for: bob, .newest, limit: 10)
    #expect(page.messages.map(\.text) == ["", "bob's words"])
    let (row, progress) = try await fixture.chat.erasure(of: alice)
    #expect(progress == .complete(Erasure(deletion: row.state.deleted.position, erasedRecords: 3, keptRecords: 1)))
    #expect(try await fixture.chat.collectMedia() == 0, "the file is still there")
    await eraser.stop()
    try fixture.close()
  }

  @Test("an erasure that failed is delayed, and tried again")
  func delayed() async throws {
    let fixture = try await ServiceFixture()
    let (alice, _) = try await conversation(fixture)
    let records = Records()
    records.fails.store(true, ordering: .relaxed)
    let eraser = Eraser(fixture.chat, records: records, logger: logger) { _ in
      try await Task.sleep(for: .milliseconds(5))
    }
    _ = try await fixture.chat.deleteAccount(of: alice, by: service, command: nil)
    try await wait { try await fixture.chat.erasure(of: alice).progress == .delayed }
    records.fails.store(false, ordering: .relaxed)
    try await wait { try await isComplete(alice, fixture) }
    await eraser.stop()
    try fixture.close()
  }

  @Test("a hold on a room waits for those who were in it, although the room was deleted")
  func deletedRoom() async throws {
    let fixture = try await ServiceFixture()
    let (alice, bob) = try await conversation(fixture)
    let carol = try await fixture.user(3)
    _ = try await fixture.chat.performRoom(room, .lifecycle(.delete), by: Principal(user: alice))
    let hold = LegalHold(.room(room), reason: "case 7")
    _ = try await fixture.chat.placeLegalHold(hold, by: service, command: nil)
    for user in [alice, bob, carol] {
      _ = try await fixture.chat.deleteAccount(of: user, by: service, command: nil)
      #expect(try await fixture.chat.erasure(of: user).progress == (user == carol ? .running : .held))
    }
    _ = try await fixture.chat.liftLegalHold(on: hold.target, by: service, command: nil)
    #expect(try await fixture.chat.erasure(of: alice).progress == .running)
    try fixture.close()
  }

  @Test("a legal hold on the user or the room makes it wait", arguments: [false, true])
  func waits(onRoom: Bool) async throws {
    let fixture = try await ServiceFixture()
    let (alice, bob) = try await conversation(fixture)
    let target: LegalHold.Target = onRoom ? .room(room) : .user(alice)
    let records = Records()
    let eraser = Eraser(fixture.chat, records: records, logger: logger)
    _ = try await fixture.chat.placeLegalHold(LegalHold(target, reason: "case 7"), by: service, command: nil)
    #expect(records.withdrawals.load(ordering: .relaxed) == 1)
    _ = try await fixture.chat.deleteAccount(of: alice, by: service, command: nil)
    // Nobody sees the message any more, but the erasure is not complete.
    try await wait {
      let page = try await fixture.chat.messages(of: room, for: bob, .newest, limit: 10)
      return page.messages.map(\.text) == ["", "bob's words"]
    }
    #expect(try await fixture.chat.erasure(of: alice).progress == .held)
    try await wait { eraser.heldCount == 1 }
    #expect(try await fixture.chat.erasureStatus() == ErasureStatus(pending: 1, lastCompleted: nil))
    _ = try await fixture.chat.liftLegalHold(on: target, by: service, command: nil)
    try await wait { try await isComplete(alice, fixture) }
    let (row, _) = try await fixture.chat.erasure(of: alice)
    #expect(
      try await fixture.chat.erasureStatus() == ErasureStatus(pending: 0, lastCompleted: row.state.erased?.time))
    try await wait { eraser.heldCount == 0 }
    let hold = LegalHold(.user(alice), reason: "too late")
    #expect(
      await rejection { _ = try await fixture.chat.placeLegalHold(hold, by: service, command: nil) } == .alreadyErased)
    await eraser.stop()
    try fixture.close()
  }
}
