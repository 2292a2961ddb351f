import ChatPrimitives
import Synchronization
import Testing

@testable import ChatService
@testable import EventLog

@Suite("cursors of the sync")
struct SyncCursorTests {
  /// Positions whose encodings have different lengths.
  private static let positions: [UInt64] = [0, 1, 127, 128, 16_383, 16_384, 1 << 40, 1 << 62, (1 << 63) - 1]

  private static func stages(at position: LogPosition) -> [SyncPosition.Stage] {
    let longest = [UInt8](repeating: 0xff, count: SyncProgress.keyBytes)
    let progresses = [([], nil, nil), ([0], fixed(7), nil), ([1], nil, fixed(9)), (longest, fixed(8), fixed(9))].map {
      (key: [UInt8], previous: RoomID?, last: RoomID?) in
      SyncProgress(
        target: position, part: 200, group: SyncGroup(previous: previous, last: last), reached: position, key: key)
    }
    return [.complete] + progresses.flatMap { [.catchingUp($0), .initial($0)] as [SyncPosition.Stage] }
  }

  private static var cursors: [SyncCursor] {
    positions.map { LogPosition($0) }.flatMap { position in
      stages(at: position).map { SyncCursor(SyncPosition(position, $0), logMark: 0xa1b2_c3d4, digest: 0xffff_ffff) }
    }
  }

  @Test("every cursor can be read back from its text")
  func roundTrip() {
    let cursors = Self.cursors
    #expect(Set(cursors.map(\.text)).count == cursors.count)
    for cursor in cursors {
      #expect(SyncCursor(text: cursor.text) == cursor)
      #expect(cursor.bytes.count <= SyncCursor.maximumBytes)
    }
  }

  @Test("a text that is cut, longer or has another bit is refused, or is the text of another cursor")
  func onlyOneText() {
    func check(_ bytes: [UInt8], unlike cursor: SyncCursor) {
      guard let other = SyncCursor(bytes: bytes) else { return }
      #expect(other != cursor && other.bytes == bytes)
    }
    for cursor in Self.cursors {
      let bytes = cursor.bytes
      for count in 0..<bytes.count { check(Array(bytes.prefix(count)), unlike: cursor) }
      for extra in [0, 1, 0x80, 0xff] as [UInt8] { check(bytes + [extra], unlike: cursor) }
      for index in bytes.indices {
        for bit in 0..<8 {
          var other = bytes
          other[index] ^= 1 << bit
          check(other, unlike: cursor)
        }
      }
      #expect(SyncCursor(text: cursor.text + "=") == nil)
      #expect(SyncCursor(text: " " + cursor.text) == nil)
    }
  }

  @Test(
    "numbers in a longer form than needed, and parts that contradict each other, are refused",
    arguments: [
      [], [0], [4, 0, 0, 0, 0, 1, 0, 0, 0, 0], [1, 0, 0, 0, 0, 0x81, 0x00, 0, 0, 0, 0],
      [1, 0, 0, 0, 0] + [UInt8](repeating: 0xff, count: 9) + [1, 0, 0, 0, 0],
      // The target is before the position.
      [2, 0, 0, 0, 0, 5, 0, 0, 0, 0, 4, 0] + [UInt8](repeating: 0, count: 32) + [4],
      // The position reached is behind the target.
      [2, 0, 0, 0, 0, 5, 0, 0, 0, 0, 6, 0] + [UInt8](repeating: 0, count: 32) + [7],
      // The key is too long.
      [2, 0, 0, 0, 0, 5, 0, 0, 0, 0, 6, 0] + [UInt8](repeating: 0, count: 32) + [6]
        + [UInt8](repeating: 0, count: 41),
    ] as [[UInt8]])
  func refused(bytes: [UInt8]) {
    #expect(SyncCursor(bytes: bytes) == nil)
  }

  @Test("a cursor of this log is accepted, also from an earlier run")
  func accepted() async throws {
    let fixture = try await ServiceFixture()
    _ = try await fixture.user(1)
    let head = fixture.log.head
    #expect(head > .origin)
    for value in 0...head.value {
      for stage in Self.stages(at: LogPosition(value)) {
        let position = SyncPosition(LogPosition(value), stage)
        let text = try CursorDigests(fixture.log).cursor(at: position).text
        #expect(try CursorDigests(fixture.log).position(of: text) == position)
      }
    }
    try fixture.close()
  }

  @Test("a cursor of another log, of another record or from beyond the head is unknown")
  func unknown() async throws {
    let (fixture, other) = try await (ServiceFixture(), ServiceFixture())
    _ = try await (fixture.user(1), other.user(1))
    let head = fixture.log.head
    let digests = CursorDigests(fixture.log)
    func refusal(_ cursor: SyncCursor) -> SyncCursorError? {
      #expect(throws: SyncCursorError.self) { _ = try digests.position(of: cursor.text) }
    }
    let cursor = try digests.cursor(at: SyncPosition(head))
    #expect(try refusal(CursorDigests(other.log).cursor(at: SyncPosition(.origin))) == .unknown)
    #expect(refusal(SyncCursor(cursor.position, logMark: cursor.logMark, digest: cursor.digest ^ 1)) == .unknown)
    #expect(refusal(SyncCursor(SyncPosition(.origin), logMark: cursor.logMark, digest: 1)) == .unknown)
    #expect(refusal(SyncCursor(SyncPosition(head.next), logMark: cursor.logMark, digest: cursor.digest)) == .unknown)
    let beyond = SyncProgress(
      target: head.next, part: 0, group: SyncGroup(previous: nil, last: nil), reached: head, key: [])
    let ahead = SyncPosition(head, .catchingUp(beyond))
    #expect(refusal(SyncCursor(ahead, logMark: cursor.logMark, digest: cursor.digest)) == .unknown)
    #expect(throws: SyncCursorError.invalid) { _ = try digests.position(of: "4711") }
    try fixture.close()
    try other.close()
  }

  @Test("clients that come back with the same position read its block once")
  func cache() async throws {
    let fixture = try await ServiceFixture()
    _ = try await fixture.user(1)
    let digests = CursorDigests(fixture.log)
    let text = try digests.cursor(at: SyncPosition(fixture.log.head)).text
    let read = fixture.log.blocksRead
    for _ in 0..<10 { _ = try digests.position(of: text) }
    #expect(fixture.log.blocksRead == read)
    _ = try CursorDigests(fixture.log).position(of: text)
    #expect(fixture.log.blocksRead == read + 1)
    try fixture.close()
  }

  @Test("4,096 digests are kept; then the oldest one is dropped", arguments: [4_095, 4_096, 4_097] as [UInt64])
  func limit(positions: UInt64) throws {
    let log = CountingLog()
    let digests = CursorDigests(log)
    for value in 1...positions { _ = try digests.cursor(at: SyncPosition(LogPosition(value))) }
    #expect(log.readPositions.count == Int(positions))
    for value in [2, 1] as [UInt64] { _ = try digests.cursor(at: SyncPosition(LogPosition(value))) }
    let isDropped = positions > 4_096
    #expect(log.readPositions.dropFirst(Int(positions)) == (isDropped ? [.first] : []))
  }
}

/// A log of 5,000 records, each in its own block, that counts the blocks that are read.
private final class CountingLog: BlockSource {
  let identity = LogIdentity(bytes: UUIDBytes(high: 1, low: 2))
  let head = LogPosition(5_000)
  private let reads = Mutex<[LogPosition]>([])

  var readPositions: [LogPosition] { reads.withLock { $0 } }

  func block(containing position: LogPosition) throws(LogError) -> Block {
    reads.withLock { $0.append(position) }
    let envelope = RecordEnvelope(
      kind: 1, payloadVersion: 1, streamKind: 1, stream: UUIDBytes(high: 0, low: position.value),
      streamVersion: StreamVersion(1), time: Timestamp(milliseconds: 0))
    let record = LogRecord(position: position, envelope: envelope, payload: .retained([]))
    return Block(
      first: position, records: [record], storedBytes: 0, rawBytes: 0, codec: .stored, segment: "", offset: 0)
  }
}
