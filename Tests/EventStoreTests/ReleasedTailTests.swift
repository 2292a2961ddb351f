import ChatDomain
import ChatPrimitives
import EventLog
import Testing

@testable import EventStore

/// The newest events in memory: those that a projection still has to apply, and a few others.
@Suite("The released tail")
struct ReleasedTailTests {
  private static let blocks = 5
  private static let eventsOfBlock = 1_000

  /// - Parameter textBytes: how long the texts of the events are, at least.
  private func filledStore(
    _ directory: TemporaryDirectory, blocks: Int = Self.blocks, eventsOfBlock: Int = Self.eventsOfBlock,
    textBytes: Int = 0
  ) throws -> (EmbeddedLog, EventStore) {
    let log = try EmbeddedLog.open(
      directory: directory.path, options: LogOptions(segmentBytes: 8 << 20, preparesAhead: false))
    let store = EventStore(log: log)
    let room = RoomID(UUIDBytes(high: 1, low: 1))
    for _ in 0..<blocks {
      var block = BlockBuilder(first: store.head.next)
      var events: [RecordedEvent] = []
      for index in 0..<eventsOfBlock {
        let position = store.head.advanced(by: index + 1)
        let event = RecordedEvent(
          stamp: Stamp(position: position, time: Timestamp(milliseconds: 1_000)),
          version: StreamVersion(position.value), actor: nil, service: nil, device: nil, command: nil,
          originalTime: nil,
          event: .room(
            room, .lifecycle(.edited(RoomEdit(name: "tea \(position)" + String(repeating: " ", count: textBytes))))))
        let (envelope, payload) = try EventCodec.encode(event)
        try block.append(envelope, payload: payload)
        events.append(event)
      }
      try store.commit(block, events)
    }
    return (log, store)
  }

  @Test("what every follower has applied leaves memory, but for the newest; what one still lacks stays")
  func releases() throws {
    let directory = TemporaryDirectory()
    let (log, store) = try filledStore(directory)
    let all = Self.blocks * Self.eventsOfBlock
    #expect(store.tailCount == all)
    store.release(through: LogPosition(UInt64(2 * Self.eventsOfBlock) - 1))
    // The last event of the second block is not released.
    #expect(store.tailCount == all - Self.eventsOfBlock)
    store.release(through: store.head)
    #expect(store.tailCount <= EventStore.releasedTailEvents && store.tailCount > 0)
    // Events that are no longer in memory are read from the log.
    #expect(try store.events(after: .origin, limit: 10).first?.position == .first)
    #expect(try store.events(after: LogPosition(UInt64(all) - 1), limit: 10).map(\.position) == [store.head])
    store.close()
    try log.close()
  }

  @Test("from any position, whole blocks are given until there are as many events as asked for")
  func givesWholeBlocks() throws {
    let directory = TemporaryDirectory()
    let (log, store) = try filledStore(directory)
    let size = UInt64(Self.eventsOfBlock)
    func positions(after position: UInt64, limit: Int) throws -> [UInt64] {
      try store.events(after: LogPosition(position), limit: limit).map(\.position.value)
    }
    #expect(try positions(after: 0, limit: 1) == Array(1...size))
    #expect(try positions(after: size, limit: Self.eventsOfBlock + 1) == Array(size + 1...3 * size))
    // In the middle of a block, the events before the position do not count.
    #expect(try positions(after: size + 1, limit: Self.eventsOfBlock) == Array(size + 2...3 * size))
    #expect(try positions(after: 5 * size - 1, limit: 10) == [5 * size])
    #expect(try positions(after: 5 * size, limit: 10) == [])
    store.close()
    try log.close()
  }

  @Test("long events are read from the log in several parts, whatever number is asked for")
  func boundsReads() throws {
    let directory = TemporaryDirectory()
    // Six blocks of 3.75 MiB.
    let (log, store) = try filledStore(directory, blocks: 6, eventsOfBlock: 60, textBytes: 64 * 1024)
    let first = try log.decodedEvents(after: .origin, through: log.head, limit: 100_000)
    #expect(first.last?.position == LogPosition(300))
    let rest = try log.decodedEvents(after: LogPosition(300), through: log.head, limit: 100_000)
    #expect(rest.count == 60 && rest.last?.position == log.head)
    store.close()
    try log.close()
  }
}
