import ChatDomain
import ChatPrimitives
import ChatProjections
import ChatService
import EventLog
import Foundation
import Testing

/// What a page of a sync costs, in steps of SQLite's virtual machine, not in time.
@Suite("The cost of a sync", .serialized, .timeLimit(.minutes(10)))
struct SyncCostTests {
  @Test("an empty catch-up and one message in one room cost the same in 1,000 rooms as in 10")
  func rooms() async throws {
    func costs(_ count: Int) async throws -> [Int] {
      let scene = try await CostScene(rooms: count)
      let head = SyncPosition(scene.head)
      let empty = try await scene.page(after: head)
      #expect(empty.page.items.isEmpty)
      try await scene.send(1, to: 1)
      let one = try await scene.page(after: head)
      // The room, the sender's marker, the sender and the message.
      #expect(one.page.items.count <= 4 && !one.page.more)
      try scene.close()
      return [empty.steps, one.steps]
    }
    let (few, many) = (try await costs(10), try await costs(1_000))
    for (few, many) in zip(few, many) { #expect(few > 0 && many <= few + few / 10, "\(few) steps become \(many)") }
  }

  @Test("a page costs no more where rooms have more messages")
  func messages() async throws {
    func most(_ count: Int) async throws -> [Int] {
      let scene = try await CostScene(rooms: 20)
      let start = SyncPosition(scene.head)
      try await scene.send(count, to: 0)
      let most = [try await scene.mostSteps(after: nil), try await scene.mostSteps(after: start, perRoom: 2)]
      try scene.close()
      return most
    }
    let (few, many) = (try await most(40), try await most(2_000))
    for (few, many) in zip(few, many) { #expect(few > 0 && many <= few + few / 10, "\(few) steps become \(many)") }
  }

  @Test("a page of many rooms costs at most 256 steps for each room that changed, beside its items")
  func manyRooms() async throws {
    func most(_ count: Int) async throws -> [Int] {
      let scene = try await CostScene(rooms: count)
      let start = SyncPosition(scene.head)
      for room in 0..<count { try await scene.send(3, to: room) }
      let most = [try await scene.mostSteps(after: nil), try await scene.mostSteps(after: start, perRoom: 2)]
      try scene.close()
      return most
    }
    // So many rooms are read together.
    let (few, many) = (Limits.syncGroupRooms + 1, 4 * Limits.syncGroupRooms)
    for (before, after) in zip(try await most(few), try await most(many)) {
      #expect(before > 0 && after <= before + (many - few) * 256, "\(before) steps become \(after)")
    }
  }
}

/// Alice has rooms of her own.
private final class CostScene {
  private static let limit = 50

  private let fixture: ServiceFixture
  private let counter: SQLiteSteps
  private let alice: UserID
  private var sent: UInt64 = 0

  init(rooms count: Int) async throws {
    let directory = FileManager.default.temporaryDirectory.appendingPathComponent("hansard-\(UUID())").path
    counter = SQLiteSteps(folder: directory)
    fixture = try await ServiceFixture(directory: directory)
    alice = try await fixture.user(1)
    try await together(count) { [fixture, alice] number in
      let creation = RoomCreation(kind: .group, name: "room \(number)", creator: alice)
      _ = try await fixture.chat.performRoom(
        Self.room(number), .lifecycle(.create(creation)), by: Principal(user: alice))
    }
  }

  func close() throws { try fixture.close() }

  var head: LogPosition { fixture.log.head }

  private static func room(_ number: Int) -> RoomID { fixed(1_000 + UInt64(number)) }

  /// Many commands share one write.
  private func together(_ count: Int, _ body: @escaping @Sendable (Int) async throws -> Void) async throws {
    for start in stride(from: 0, to: count, by: 256) {
      try await withThrowingTaskGroup(of: Void.self) { group in
        for number in start..<min(start + 256, count) { group.addTask { try await body(number) } }
        try await group.waitForAll()
      }
    }
  }

  func send(_ count: Int, to room: Int) async throws {
    let first = sent
    sent += UInt64(count)
    try await together(count) { [fixture, alice] number in
      _ = try await fixture.send("hello", 100_000 + first + UInt64(number), to: Self.room(room), by: alice)
    }
  }

  /// A page, and what it costs.
  func page(after position: SyncPosition?, perRoom: Int? = nil) async throws -> (page: SyncPage, steps: Int) {
    let request = SyncRequest(after: position, limit: Self.limit, perRoom: perRoom)
    // Everything is applied first, and in the caches of the connections.
    try await fixture.chat.readModels.waitForAll(head, timeoutMilliseconds: 60_000)
    _ = try await fixture.chat.changes(for: alice, request)
    let (page, steps) = try await counter.count { try await fixture.chat.changes(for: alice, request) }
    return (page, steps)
  }

  /// What the most expensive page costs.
  func mostSteps(after start: SyncPosition?, perRoom: Int? = nil) async throws -> Int {
    var (position, most, more) = (start, 0, true)
    while more {
      let (page, steps) = try await page(after: position, perRoom: perRoom)
      (position, most, more) = (page.next, max(most, steps), page.more)
    }
    return most
  }
}
