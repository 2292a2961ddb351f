import ChatDomain
import ChatPrimitives
import EventLogSimulation
import Testing

@testable import ChatPush

@Suite("Silent notifications")
struct SilentNotificationSpecs {
  private let start = ContinuousClock.now
  private let pause = DeviceQueue.silentPause

  private func alert(_ position: UInt64, _ device: DeviceID = bensPhone) -> PendingNotification {
    PendingNotification(PushNotificationKey(position: LogPosition(position), user: ben, device: device))
  }

  private func silent(
    _ position: UInt64, _ kind: PushKind = .update, in room: RoomID = tea, thread: MessageID? = nil,
    message: MessageID? = nil, clears: Bool = true
  ) -> PendingNotification {
    let group = SilentGroup(kind, room: room, thread: thread, message: message, clears: message == nil && clears)
    return PendingNotification(alert(position).key, group)
  }

  private func quiet(_ position: UInt64, _ kind: PushKind = .message, in room: RoomID = tea) -> PendingNotification {
    let group = SilentGroup(
      kind, isQuiet: true, room: room, thread: .numbered(position), message: .numbered(position), clears: false)
    return PendingNotification(alert(position).key, group)
  }

  private func positions(_ keys: [PushNotificationKey]) -> [UInt64] { keys.map(\.position.value) }

  @Test("a newer silent notification replaces an older one of its kind and room that was not sent yet")
  func replaced() {
    var queues = PerDeviceQueues()
    #expect(queues.take([silent(1), silent(2, .roomChange), silent(3, in: cake)]) == [])
    #expect(positions(queues.take([silent(4), silent(5, .roomChange), silent(6, .sent)])) == [1, 2])
    #expect(queues.count == 4 && queues.oldest == LogPosition(3))
    #expect(queues.next(at: start)?.key.position == LogPosition(4), "it takes the place of the one that it replaces")
    #expect(queues.take([silent(7)]) == [], "what is being sent is not replaced")
  }

  @Test("silent notifications that clear different things do not replace each other, and neither do alerts")
  func kept() {
    var queues = PerDeviceQueues()
    let rows = [
      silent(1), silent(2, thread: .numbered(1)), silent(3, thread: .numbered(2)), silent(4, message: .numbered(3)),
      silent(5, message: .numbered(4)), silent(6, .sent, message: .numbered(5)),
      silent(7, .sent, thread: .numbered(1), message: .numbered(6)), alert(8), alert(9), silent(13, clears: false),
    ]
    #expect(queues.take(rows) == [] && queues.count == rows.count)
    #expect(positions(queues.take([silent(14, .sent, message: .numbered(7))])) == [6], "its message is no group")
    #expect(positions(queues.take([silent(15, .roomChange, message: .numbered(1))])) == [])
    #expect(positions(queues.take([silent(16, .roomChange, message: .numbered(2))])) == [15])
  }

  @Test("a device gets one silent notification each second, and alerts do not wait for that")
  func pace() {
    var queues = PerDeviceQueues()
    #expect(queues.take([silent(1), silent(2, in: cake)]) == [])
    #expect(queues.next(at: start)?.key.position == LogPosition(1))
    queues.complete(silent(1).key, at: start)
    #expect(queues.next(at: start) == nil && queues.nextDue == start + pause && !queues.hasReady)
    #expect(queues.take([alert(3)]) == [])
    #expect(queues.next(at: start)?.key.position == LogPosition(3))
    queues.complete(alert(3).key, at: start)
    #expect(queues.next(at: start + pause - .milliseconds(1)) == nil)
    #expect(queues.next(at: start + pause)?.key.position == LogPosition(2))
    queues.complete(silent(2).key, at: start + pause)
    #expect(queues.count == 0 && queues.oldest == nil && queues.active == 0)
    #expect(queues.take([silent(4)]) == [])
    #expect(queues.next(at: start + pause) == nil, "the pause outlasts the queue")
    #expect(queues.next(at: start + pause * 2)?.key.position == LogPosition(4))
  }

  @Test("alerts in quiet hours are paced and replaced within their kind and room; other alerts do not wait for them")
  func quietHours() {
    var queues = PerDeviceQueues()
    #expect(queues.take([quiet(1), quiet(2, .mention), quiet(3, in: cake), alert(4)]) == [])
    #expect(positions(queues.take([quiet(5), silent(6)])) == [1], "not by an update")
    #expect(queues.freeCapacity == PerDeviceQueues.capacity - 1, "they take no room from other alerts")
    #expect(queues.next(at: start)?.key.position == LogPosition(4), "it is older than the one that replaced 1")
    queues.complete(alert(4).key, at: start)
    #expect(queues.next(at: start)?.key.position == LogPosition(6), "an update goes first")
    queues.complete(silent(6).key, at: start)
    #expect(queues.next(at: start + pause - .milliseconds(1)) == nil)
    #expect(queues.take([alert(7)]) == [] && queues.next(at: start)?.key.position == LogPosition(7))
    queues.complete(alert(7).key, at: start)
    var sent: [UInt64] = []
    for second in 1...3 {
      while let next = queues.next(at: start + pause * second) {
        sent.append(next.key.position.value)
        queues.complete(next.key, at: start + pause * second)
      }
    }
    #expect(sent == [5, 2, 3] && queues.count == 0)
  }

  @Test("an update goes before alerts in quiet hours and is not replaced by them, and they go before changes of rooms")
  func quietHoursDelayNoUpdate() {
    var queues = PerDeviceQueues()
    let most = UInt64(SilentQueue.capacity)
    #expect(queues.take([silent(1, .roomChange), quiet(2), silent(3)]) == [])
    let more = (1...most + 8).map { quiet($0 + 3, in: .numbered($0 + 100)) }
    #expect(positions(queues.take(more)) == [2] + Array(4...11), "the quiet ones that have waited longest")
    #expect(queues.oldest == LogPosition(1))
    var (now, sent) = (start, [UInt64]())
    while let next = queues.next(at: now) {
      sent.append(next.key.position.value)
      queues.complete(next.key, at: now)
      now += pause
    }
    #expect(sent == [3] + Array(12...most + 11) + [1])
  }

  @Test("an alert in quiet hours that failed is sent again before those that came later, but after an update")
  func quietHoursAgain() {
    var queues = PerDeviceQueues()
    #expect(queues.take([quiet(1), quiet(2, in: cake)]) == [])
    #expect(queues.next(at: start)?.key.position == LogPosition(1))
    #expect(queues.retry(quiet(1).key, at: start, now: start) == true)
    #expect(queues.take([silent(3)]) == [])
    let sent = (1...3).compactMap { second -> UInt64? in
      guard let next = queues.next(at: start + pause * second) else { return nil }
      queues.complete(next.key, at: start + pause * second)
      return next.key.position.value
    }
    #expect(sent == [3, 1, 2] && queues.count == 0)
  }

  @Test("a silent notification that was not sent starts no pause; a failed one is sent again when it is due")
  func unsent() {
    var queues = PerDeviceQueues()
    #expect(queues.take([silent(1), silent(2, in: cake)]) == [])
    #expect(queues.next(at: start)?.key.position == LogPosition(1))
    queues.complete(silent(1).key, wasSent: false, at: start)
    #expect(queues.next(at: start)?.key.position == LogPosition(2))
    #expect(queues.retry(silent(2).key, at: start + .milliseconds(200), now: start) == true)
    #expect(queues.next(at: start + .milliseconds(999)) == nil, "a second at least")
    #expect(queues.next(at: start + pause) == .init(key: silent(2).key, number: 2))
    #expect(queues.retry(silent(2).key, at: start + pause, counts: false, now: start + pause) == true)
    #expect(queues.next(at: start + pause) == .init(key: silent(2).key, number: 2), "what was not sent does not count")
  }

  @Test("alerts go before one that failed, and a newer one takes its place")
  func failed() {
    var queues = PerDeviceQueues()
    let due = start + .seconds(60)
    #expect(queues.take([silent(1), alert(2)]) == [])
    #expect(queues.next(at: start)?.key.position == LogPosition(1))
    #expect(queues.retry(silent(1).key, at: due, now: start) == true)
    #expect(queues.next(at: start)?.key.position == LogPosition(2), "no alert waits for it")
    queues.complete(alert(2).key, at: start)
    #expect(queues.next(at: start) == nil && queues.oldest == LogPosition(1))
    #expect(positions(queues.take([silent(3)])) == [1])
    #expect(queues.next(at: due)?.key.position == LogPosition(3))
    #expect(queues.take([silent(4)]) == [])
    #expect(queues.retry(silent(3).key, at: due, now: due) == false, "the newer one is sent instead")
    #expect(queues.next(at: due + pause) == .init(key: silent(4).key, number: 1))
    queues.complete(silent(4).key, at: due)
    #expect(queues.count == 0 && queues.active == 0 && queues.freeCapacity == PerDeviceQueues.capacity)
  }

  @Test("the last failure is known at the next attempt, and only then: not for the next notification")
  func lastFailure() {
    var queues = PerDeviceQueues()
    #expect(queues.take([silent(1), alert(2)]) == [])
    var now = start
    // The alert goes before a silent notification that failed.
    for row in [silent(1), alert(2)] {
      #expect(queues.next(at: now) == .init(key: row.key, number: 1))
      #expect(queues.retry(row.key, at: now + pause, failure: "500", now: now) == true)
    }
    now += pause
    #expect(queues.next(at: now) == .init(key: alert(2).key, number: 2, lastFailure: "500"))
    let long = String(repeating: "x", count: PushOutcome.responseBytes + 1)
    #expect(queues.retry(alert(2).key, at: now, failure: long, now: now) == true)
    #expect(queues.next(at: now)?.lastFailure == String(long.dropLast()))
    #expect(queues.retry(alert(2).key, at: now, counts: false, now: now) == true, "nothing was sent")
    #expect(queues.next(at: now)?.lastFailure == String(long.dropLast()))
    queues.complete(alert(2).key, at: now)
    #expect(queues.next(at: now) == .init(key: silent(1).key, number: 2, lastFailure: "500"))
    queues.complete(silent(1).key, at: now)
    #expect(queues.take([alert(3)]) == [] && queues.next(at: now) == .init(key: alert(3).key, number: 1))
  }

  @Test("retries of silent ones use no more than half of the slots")
  func retriesLeaveRoom() {
    var queues = PerDeviceQueues(slots: 4)
    let rows = (1...4).map { number in
      PendingNotification(
        PushNotificationKey(position: LogPosition(1), user: UserID(UUIDBytes(high: 8, low: number)), device: bensPhone),
        silent(1).group)
    }
    #expect(queues.take(rows) == [])
    for row in rows {
      #expect(queues.next(at: start)?.key == row.key)
      #expect(queues.retry(row.key, at: start, now: start) == true)
    }
    let later = start + pause
    #expect((1...4).compactMap { _ in queues.next(at: later) }.map(\.number) == [2, 2])
  }

  @Test("so many wait for a device at most, and they take no room from alerts")
  func limit() {
    var queues = PerDeviceQueues()
    let last = UInt64(SilentQueue.capacity)
    let first = queues.take((1...last).map { silent($0, message: .numbered($0)) })
    #expect(first == [] && queues.freeCapacity == PerDeviceQueues.capacity)
    #expect(positions(queues.take([silent(last + 1, message: .numbered(last + 1))])) == [1], "the oldest is given up")
    #expect(queues.count == SilentQueue.capacity)
    #expect(queues.take([alert(last + 2)]) == [] && queues.freeCapacity == PerDeviceQueues.capacity - 1)
  }

  @Test("if memory is full, a device keeps the newest of its own, and takes none from others")
  func fullMemory() {
    var queues = PerDeviceQueues()
    func waiting(
      _ position: UInt64, _ device: UInt64, _ kind: PushKind = .update, about message: UInt64
    ) -> PendingNotification {
      let group = SilentGroup(kind, room: tea, thread: nil, message: .numbered(message), clears: false)
      let user = UserID(UUIDBytes(high: 8, low: device))
      return PendingNotification(
        PushNotificationKey(position: LogPosition(position), user: user, device: bensPhone), group)
    }
    // Device 1 has the most, and the others have one each.
    let most = UInt64(SilentQueue.capacity)
    #expect(queues.take((1...most).map { waiting($0, 1, about: $0) }) == [])
    let others = UInt64(PerDeviceQueues.silentCapacity) - most
    #expect(queues.take((1...others).map { waiting(most + 1, $0 + 1, about: 1) }) == [])
    #expect(queues.silentCount == PerDeviceQueues.silentCapacity)
    #expect(queues.take([waiting(most + 2, others + 2, about: 1)]) == [], "a new device gets its first one")
    #expect(positions(queues.take([waiting(most + 3, others + 2, about: 2)])) == [most + 2], "and then the newest only")
    #expect(queues.take([waiting(most + 4, others + 2, .roomChange, about: 2)]) == [], "one of the other kinds, too")
    // The device that takes the most memory gives it back with its next one, which keeps the place of the one that it replaces.
    #expect(positions(queues.take([waiting(most + 5, 1, about: 1)])) == Array(1...most))
    #expect(queues.silentCount == Int(others) + 3 && queues.freeCapacity == PerDeviceQueues.capacity)
    #expect(queues.take([waiting(most + 6, 1, about: 2)]) == [], "there is memory again")
  }

  @Test("an alert goes before a newer silent notification, and those that set the badge go before changes of rooms")
  func order() {
    var queues = PerDeviceQueues()
    #expect(queues.take([silent(1, .roomChange), silent(2), alert(3), silent(4, in: cake), silent(5, .sent)]) == [])
    var (now, sent) = (start, [UInt64]())
    while queues.count > 0 {
      while let next = queues.next(at: now) {
        sent.append(next.key.position.value)
        queues.complete(next.key, at: now)
      }
      now += pause
    }
    #expect(sent == [2, 3, 4, 5, 1])
  }

  @Test("a room that changes often does not delay the others")
  func fairness() {
    var queues = PerDeviceQueues()
    #expect(queues.take([silent(1), silent(2, in: cake)]) == [])
    var (now, sent) = (start, [UInt64]())
    for position in stride(from: UInt64(3), to: 13, by: 2) {
      if let next = queues.next(at: now) {
        sent.append(next.key.position.value)
        queues.complete(next.key, at: now)
      }
      _ = queues.take([silent(position), silent(position + 1, in: cake)])
      now += pause
    }
    #expect(sent.count == 5 && Set(sent.map { $0 % 2 }) == [0, 1])
    #expect(zip(sent, sent.dropFirst()).allSatisfy { $0 % 2 != $1 % 2 }, "the rooms take turns: \(sent)")
  }

  @Test(
    "in any order, each is sent or replaced by a newer one, at most one each second, and the last badge is the newest",
    arguments: 1...40)
  func anyOrder(seed: UInt64) {
    var random = SeededRandom(seed: seed)
    var queues = PerDeviceQueues()
    var (now, position) = (start, UInt64(0))
    var replaced: [PushNotificationKey] = []
    var taken: [PendingNotification] = []
    var sent: [(row: PendingNotification, at: ContinuousClock.Instant, head: UInt64)] = []
    while position < 300 || queues.oldest != nil {
      if position < 300, Bool.random(using: &random) {
        position += 1
        let kind: PushKind? = [nil, nil, .update, .sent, .roomChange, .message].randomElement(using: &random) ?? nil
        let room = Bool.random(using: &random) ? tea : cake
        let row = kind.map { $0 == .message ? quiet(position, in: room) : silent(position, $0, in: room) }
          ?? alert(position)
        taken.append(row)
        replaced += queues.take([row])
      }
      if Bool.random(using: &random) {
        for request in queues.alertsNeeded(1) {
          let left = taken.filter { $0.group == nil && $0.key.position > request.after }
          queues.take(Array(left.prefix(request.limit + 1).map(\.key)), for: request)
        }
      }
      #expect(queues.count <= DeviceQueue.alertsInMemory + 1 + 3 * SilentQueue.capacity)
      if let next = queues.next(at: now) {
        let row = taken.first { $0.key == next.key } ?? alert(0)
        sent.append((row, now, position))
        if Int.random(in: 0...9, using: &random) > 0 {
          queues.complete(next.key, at: now)
        } else if !queues.retry(next.key, at: now + .milliseconds(500), now: now) {
          replaced.append(next.key)
        }
      }
      now += .milliseconds(Int.random(in: 0...400, using: &random))
    }
    #expect(Set(sent.map(\.row.key)).union(replaced) == Set(taken.map(\.key)))
    for key in replaced {
      let group = taken.first { $0.key == key }?.group
      #expect(group != nil && taken.contains { $0.group == group && $0.key > key })
    }
    let unseen = sent.filter { $0.row.group != nil }
    #expect(zip(unseen, unseen.dropFirst()).allSatisfy { $1.at - $0.at >= pause })
    let alerts = sent.filter { $0.row.group == nil }.map(\.row.key)
    #expect(alerts == alerts.sorted(), "alerts keep their order")
    #expect(queues.active == 0 && queues.freeCapacity == PerDeviceQueues.capacity)
    // A silent one has the badge of when it is sent, so what follows it must not be older than it.
    var newest = PushNotificationKey.origin
    for (row, _, _) in sent where row.group?.kind != .roomChange {
      if row.group == nil { #expect(row.key >= newest, "an older badge follows a newer one") }
      newest = max(newest, row.key)
    }
  }

  @Test("elements that are due at the same time keep their order")
  func dueQueue() {
    var queue = DueQueue<Int>()
    for number in [3, 1, 2] { queue.add(number, due: start + .seconds(1)) }
    queue.add(0, due: start)
    #expect(queue.nextDue == start && queue.popDue(at: start - .seconds(1)) == nil)
    #expect(queue.popDue(at: start) == 0 && queue.popDue(at: start) == nil)
    #expect((1...3).compactMap { _ in queue.popDue(at: start + .seconds(2)) } == [3, 1, 2])
    #expect(queue.nextDue == nil)
  }

  @Test("providers replace within the same groups")
  func collapseIDs() {
    let groups = [
      silent(1).group, silent(1, thread: .numbered(1)).group, silent(1, message: .numbered(1)).group,
      silent(1, clears: false).group, silent(1, .sent, message: .numbered(1)).group,
      silent(1, .sent, thread: .numbered(1), message: .numbered(2)).group,
      silent(1, .roomChange, message: .numbered(1)).group, silent(1, in: cake).group,
    ].compactMap { $0 }
    #expect(groups.count == 8 && Set(groups.map(\.collapseID)).count == 8)
    #expect(groups.allSatisfy { $0.collapseID.utf8.count <= APNsRequest.collapseIDBytes })
    #expect(SilentGroup(.message, room: tea, thread: nil, message: nil, clears: false) == nil)
    #expect(quiet(1).group?.collapseID == "message.\(tea)" && quiet(1).group == quiet(2).group)
  }
}
