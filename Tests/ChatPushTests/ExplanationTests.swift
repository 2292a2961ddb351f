import ChatDomain
import ChatPrimitives
import EventStore
import Foundation
import GRDB
import Synchronization
import Testing

@testable import ChatPush

private let dora = UserID.numbered(4)
private let dorasPhone = DeviceID.numbered(41)

@Suite(.timeLimit(.minutes(1))) struct ExplanationTests {
  /// A room with a message, and what happens afterwards. Returns the log, and the position of the message.
  private static func conversation() -> (log: MemoryLog, position: LogPosition) {
    var script = Script()
    for (user, name) in [(anna, "Anna"), (ben, "Ben"), (carla, "Carla"), (dora, "Dora")] {
      script.register(user, name)
    }
    script.device(annasPhone, of: anna, token: "a")
    script.device(bensPhone, of: ben, token: "b")
    script.device(bensTablet, of: ben, token: nil)
    script.device(carlasPhone, of: carla, token: "c")
    script.device(dorasPhone, of: dora, token: "d")
    script.create(tea, by: anna, ben, carla)
    script.room(tea, .members(.left(carla)), by: carla)
    script.send(to: tea, by: anna)
    let position = script.send(to: tea, by: anna)
    // Later events do not change the decisions, but show who joined later.
    script.room(tea, .reading(.markerMoved(ben, to: .numbered(2), ordinal: 2)), by: ben)
    script.user(ben, .devices(.removed(bensPhone)))
    script.room(tea, .members(.added(dora, role: .member)), by: anna)
    script.room(tea, .members(.added(carla, role: .member)), by: anna)
    script.baseline()
    return (MemoryLog(script.events), position)
  }

  private static let decisions: [FanOut.DeviceDecision] = [
    .init(user: anna, device: annasPhone, provider: .apns, decision: .notify(FanOut.Delivery(kind: .sent))),
    .init(user: ben, device: bensPhone, provider: .apns, decision: .notify(FanOut.Delivery(kind: .message))),
    .init(user: ben, device: bensTablet, decision: .skip(.noToken)),
    .init(user: carla, device: carlasPhone, provider: .apns, decision: .skip(.left)),
    .init(user: dora, device: dorasPhone, provider: .apns, decision: .skip(.beforeJoin)),
  ]

  @Test("every device of everyone who was, had been or came to be a member is accounted for, as of the event")
  func explains() throws {
    let (log, position) = Self.conversation()
    let explanation = try PushExplanation(of: position, in: log)
    #expect(explanation.decisions == Self.decisions)
    #expect(explanation.badges == [anna: 0, ben: 2])
    #expect(!explanation.hasMore && explanation.head == log.head)
    #expect(throws: PushExplanationError.notifiesNobody(.first)) { try PushExplanation(of: .first, in: log) }
    for wrong in [LogPosition.origin, log.head.next] {
      #expect(throws: PushExplanationError.unknownPosition(wrong, head: log.head)) {
        try PushExplanation(of: wrong, in: log)
      }
    }
  }

  @Test(
    "in a crowded room only the first frequent event of each minute leads to `roomChange`, and the explanation says why",
    arguments: [0, 1])
  func crowdedRoom(excess: Int) throws {
    var script = Script()
    script.register(anna, "Anna")
    script.create(tea, by: anna)
    let count = UInt64(FanOut.RoomContext.crowdedDevices + excess)
    for number in 0..<count {
      let user = UserID.numbered(100 + number / 50)
      if number % 50 == 0 {
        script.register(user, "User \(number)")
        script.room(tea, .members(.added(user, role: .member)), by: anna)
      }
      let token = PushToken(provider: .apns, token: "t\(number)")
      let description = DeviceDescription(name: nil, type: nil, osVersion: nil, tokens: [token], roomChanges: true)
      script.user(user, .devices(.registered(.numbered(1000 + number), description)))
    }
    script.baseline()
    let member = UserID.numbered(100)
    // Events are a second apart.
    func nextMinute() {
      repeat {
        script.register(.numbered(2000 + UInt64(script.events.count)), "Somebody")
      } while script.events.count % 60 != 0
    }
    func changeRole(_ role: Role) -> LogPosition {
      script.room(tea, .members(.roleChanged(member, role)), by: anna)
    }
    nextMinute()
    // Only the user's own devices learn of a mute, so it is not the first change of the room.
    script.room(tea, .members(.muted(member, until: nil)), by: member)
    let frequent = changeRole(.administrator)
    let added = script.room(tea, .members(.added(ben, role: .member)), by: anna)
    let edited = script.room(tea, .lifecycle(.edited(RoomEdit(name: "coffee"))), by: anna)
    let again = changeRole(.member)
    nextMinute()
    let later = changeRole(.administrator)
    let last = changeRole(.member)
    let rows = try build(script.events).read { database in
      try PushQueries(database).pending(after: .origin, limit: 10_000).map(\.key.position)
    }
    let leftOut: Set<LogPosition> = excess == 0 ? [] : [added, again, last]
    for change in [frequent, added, edited, again, later, last] {
      let isLeftOut = leftOut.contains(change)
      #expect(rows.filter { $0 == change }.count == (isLeftOut ? 0 : Int(count)))
      let explained = try PushExplanation(of: change, in: MemoryLog(script.events))
      let reasons = Set(explained.decisions.map(\.decision))
      #expect(
        reasons == [isLeftOut ? .skip(.crowdedRoom) : .notify(FanOut.Delivery(kind: .roomChange))])
    }
  }

  @Test("one user's devices are explained as among all others, whether the user is, was or later became a member")
  func oneUser() throws {
    let (log, position) = Self.conversation()
    for user in [anna, ben, carla, dora] {
      let explanation = try PushExplanation(of: position, in: log, for: user)
      #expect(explanation.decisions == Self.decisions.filter { $0.user == user })
    }
    let stranger = UserID.numbered(5)
    log.append(.user(stranger, .devices(.registered(.numbered(51), .with("e")))), by: stranger)
    let later = log.send(77)
    #expect(try PushExplanation(of: later, in: log, for: stranger).decisions.isEmpty)
  }

  @Test("an event of one user concerns no other")
  func eventOfOneUser() throws {
    let (log, _) = Self.conversation()
    let read = log.append(.room(tea, .reading(.markerMoved(ben, to: .numbered(2), ordinal: 2))), by: ben)
    let all = try PushExplanation(of: read, in: log).decisions
    #expect(!all.isEmpty && all.allSatisfy { $0.user == ben })
    #expect(try PushExplanation(of: read, in: log, for: ben).decisions == all)
    #expect(try PushExplanation(of: read, in: log, for: anna).decisions.isEmpty)
  }

  @Test("the first devices are explained, and whether there are more", arguments: 0...6)
  func limit(limit: Int) throws {
    let (log, position) = Self.conversation()
    let explanation = try PushExplanation(of: position, in: log, limit: limit)
    #expect(explanation.decisions == Array(Self.decisions.prefix(limit)))
    #expect(explanation.hasMore == (limit < Self.decisions.count))
  }

  @Test("a log that grows faster than it is read is explained up to where it ended at first")
  func growth() throws {
    let (log, position) = Self.conversation()
    let head = log.head
    let growing = WatchedLog(log) { _ in
      log.append(.server(.pushOutcomesRecorded(PushOutcomes(settledThrough: position, outcomes: []))))
    }
    let explanation = try PushExplanation(of: position, in: growing)
    #expect(explanation.head == head && log.head > head)
    #expect(explanation.decisions == Self.decisions)
  }
}

@Suite("Explanations of a running server", .timeLimit(.minutes(1)))
struct PushExplainerTests {
  private static func message() -> (log: MemoryLog, position: LogPosition) {
    var script = Script()
    script.register(anna, "Anna")
    script.create(tea, by: anna)
    let position = script.send(to: tea, by: anna)
    return (MemoryLog(script.events), position)
  }

  @Test("are made at a low priority")
  func priority() async throws {
    let (log, position) = Self.message()
    let values = Mutex<Set<Int32>>([])
    // On Linux the nice value is that of the calling thread.
    let watched = WatchedLog(log) { _ in
      values.withLock { _ = $0.insert(getpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0)) }
    }
    _ = try await PushExplainer(watched).explain(position)
    #expect(values.withLock { $0 } == [10])
  }

  @Test("end between two batches when nobody waits for them any more")
  func cancellation() async throws {
    let (log, position) = Self.message()
    let (reading, signal) = AsyncStream<Void>.makeStream()
    let cancelled = DispatchSemaphore(value: 0)
    let reads = Atomic(0)
    let watched = WatchedLog(log) { number in
      reads.store(number, ordering: .relaxed)
      guard number == 2 else { return }
      signal.yield()
      cancelled.wait()
    }
    // Reads the event, all events up to it, and would then read what came later.
    log.baseline(through: position)
    let task = Task { try await PushExplainer(watched).explain(position) }
    for await _ in reading { break }
    task.cancel()
    cancelled.signal()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(reads.load(ordering: .relaxed) == 2)
  }

  @Test("end after a limited time")
  func timeout() async throws {
    let (log, position) = Self.message()
    await #expect(throws: PushExplanationError.tookTooLong) {
      try await PushExplainer(log, timeout: .zero).explain(position)
    }
  }
}

extension MemoryLog {
  fileprivate func baseline(through position: LogPosition) {
    append(.server(.pushOutcomesRecorded(PushOutcomes(settledThrough: position, outcomes: []))))
  }
}

/// A log that reports each read before it happens, with its number from 1.
private final class WatchedLog: EventFeed {
  private let log: MemoryLog
  private let onRead: @Sendable (Int) -> Void
  private let reads = Atomic(0)

  init(_ log: MemoryLog, onRead: @escaping @Sendable (Int) -> Void) {
    self.log = log
    self.onRead = onRead
  }

  var head: LogPosition { log.head }

  func events(after position: LogPosition, limit: Int) throws -> [RecordedEvent] {
    onRead(reads.add(1, ordering: .relaxed).newValue)
    return try log.events(after: position, limit: limit)
  }

  func waitForHead(beyond position: LogPosition) -> Bool { log.waitForHead(beyond: position) }
}
