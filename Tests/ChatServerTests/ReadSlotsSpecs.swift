import ChatPrimitives
import ChatService
import Testing

@testable import ChatServer

@Suite("Reads that wait for a slot", .timeLimit(.minutes(1)))
struct ReadSlotsSpecs {
  private static let limit: UInt64 = 4096

  /// Which slots the reads wait for: those of a user or those of an address. Both queues have the same limit.
  enum Readers: CaseIterable {
    case one
    case manyOfOneAddress

    var running: Int {
      switch self {
      case .one: Limits.readsOfUser
      case .manyOfOneAddress: Limits.readsOfAddress
      }
    }

    func reader(_ number: UInt64) -> ReaderSlots.Reader {
      switch self {
      case .one: .user(UserID(UUIDBytes(high: 1, low: 0)))
      case .manyOfOneAddress: .user(UserID(UUIDBytes(high: 1, low: number)))
      }
    }
  }

  @Test("are 4,096 at most; one more is refused at once", arguments: Readers.allCases)
  func waitingLimit(readers: Readers) async throws {
    let slots = ReaderSlots(ofUser: Limits.readsOfUser, ofAddress: Limits.readsOfAddress, ofAll: .max)
    let address = NetworkAddress("192.0.2.1")
    @Sendable func take(_ number: UInt64) async throws -> ReaderSlots.Reservation {
      try await slots.take(for: readers.reader(number), at: address, timeout: .seconds(3600))
    }
    var running: [ReaderSlots.Reservation] = []
    for number in 0..<readers.running { running.append(try await take(UInt64(number))) }
    let waiting = (1_000..<1_000 + Self.limit).map { number in Task { try await take(number) } }
    while slots.waitingCount < waiting.count { await Task.yield() }
    // Without the limit, this read would wait for an hour.
    await #expect(throws: ServiceError.self) { _ = try await take(100_000) }
    #expect(slots.waitingCount == waiting.count)
    for task in waiting { task.cancel() }
    for task in waiting { _ = await task.result }
    withExtendedLifetime(running) {}
  }
}
