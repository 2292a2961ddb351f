import ChatDomain
import ChatPrimitives
import Testing

@testable import ChatPush

@Suite struct LanesTests {
  private let start = ContinuousClock.now

  private func key(_ position: UInt64, _ device: DeviceID = bensPhone, of user: UserID = ben) -> NoticeKey {
    NoticeKey(position: LogPosition(position), user: user, device: device)
  }

  /// One device each of many users, or many of one.
  private func keys(_ count: Int, of user: UserID? = nil) -> [NoticeKey] {
    (1...UInt64(count)).map { number in
      key(1, DeviceID(UUIDBytes(high: 7, low: number)), of: user ?? UserID(UUIDBytes(high: 8, low: number)))
    }
  }

  @Test("a device is told one notice at a time and in order; devices do not wait for each other")
  func lanes() {
    var lanes = DeliveryLanes()
    lanes.take([key(1), key(1, bensTablet), key(2), key(2, bensTablet)])
    #expect(lanes.cursor == key(2, bensTablet) && lanes.count == 4)
    #expect(lanes.next(at: start) == .init(key: key(1), number: 1))
    #expect(lanes.next(at: start) == .init(key: key(1, bensTablet), number: 1))
    #expect(lanes.next(at: start) == nil && lanes.active == 2)
    lanes.complete(key(1, bensTablet))
    #expect(lanes.next(at: start) == .init(key: key(2, bensTablet), number: 1))
    #expect(lanes.oldest == LogPosition(1))
    lanes.complete(key(1))
    #expect(lanes.next(at: start) == .init(key: key(2), number: 1))
    #expect(lanes.oldest == LogPosition(2))
    lanes.complete(key(2))
    lanes.complete(key(2, bensTablet))
    #expect(lanes.oldest == nil && lanes.count == 0 && lanes.active == 0)
  }

  @Test("a notice that failed comes again when it is due, before its device's later ones")
  func retries() {
    var lanes = DeliveryLanes()
    lanes.take([key(1), key(2), key(3, bensTablet)])
    #expect(lanes.next(at: start)?.key == key(1))
    lanes.retry(key(1), at: start + .seconds(2))
    #expect(lanes.next(at: start)?.key == key(3, bensTablet))
    lanes.retry(key(3, bensTablet), at: start + .seconds(1))
    #expect(lanes.next(at: start) == nil && lanes.nextDue == start + .seconds(1))
    #expect(lanes.next(at: start + .seconds(1)) == .init(key: key(3, bensTablet), number: 2))
    #expect(lanes.next(at: start + .seconds(2)) == .init(key: key(1), number: 2))
    lanes.retry(key(1), at: start + .seconds(3), counts: false)
    #expect(lanes.next(at: start + .seconds(3)) == .init(key: key(1), number: 2), "it was not tried")
    lanes.complete(key(1))
    #expect(lanes.next(at: start + .seconds(2)) == .init(key: key(2), number: 1), "attempts are counted by notice")
  }

  @Test("retries hold half of the slots at most, and the others are for first attempts")
  func retriesLeaveRoom() {
    var lanes = DeliveryLanes()
    let keys = keys(2 * DeliveryLanes.retries)
    lanes.take(keys)
    for key in keys {
      #expect(lanes.next(at: start)?.key == key)
      lanes.retry(key, at: start + .seconds(1))
    }
    let later = start + .seconds(1)
    for _ in 0..<DeliveryLanes.retries { #expect(lanes.next(at: later)?.number == 2) }
    #expect(lanes.next(at: later) == nil && lanes.active == DeliveryLanes.retries)
    lanes.take([key(2, bensPhone)])
    #expect(lanes.next(at: later)?.key == key(2, bensPhone))
    lanes.complete(keys[0])
    #expect(lanes.next(at: later)?.number == 2, "the slot of a settled retry is free for the next")
  }

  @Test("the devices of one user hold a quarter of the slots at most, with first attempts and with retries")
  func attemptsOfUser() {
    var lanes = DeliveryLanes()
    let limit = DeliveryLanes.attemptsOfUser
    let bens = keys(limit + 2, of: ben)
    let others = key(2, of: anna)
    lanes.take(bens + [others])
    for key in bens.prefix(limit) { #expect(lanes.next(at: start)?.key == key) }
    #expect(lanes.next(at: start)?.key == others, "others do not wait for Ben's devices")
    #expect(lanes.next(at: start) == nil && lanes.active == limit + 1)
    for key in bens.prefix(limit) { lanes.retry(key, at: start + .seconds(1)) }
    for key in bens.suffix(2) { #expect(lanes.next(at: start) == .init(key: key, number: 1)) }
    let later = start + .seconds(1)
    for key in bens.prefix(limit - 2) { #expect(lanes.next(at: later) == .init(key: key, number: 2)) }
    #expect(lanes.next(at: later) == nil && lanes.active == limit + 1)
    lanes.complete(bens[0])
    lanes.complete(bens[limit])
    for key in bens[limit - 2..<limit] { #expect(lanes.next(at: later) == .init(key: key, number: 2)) }
    #expect(lanes.next(at: later) == nil)
  }

  @Test("the first retry comes within a quarter of a second, later ones grow to a bound")
  func delays() {
    #expect(RetryPolicy.delay(after: 1, chance: 0) == .milliseconds(150))
    #expect(RetryPolicy.delay(after: 1, chance: 1) == .milliseconds(250))
    #expect(RetryPolicy.delay(after: 2, chance: 0.5) == .milliseconds(400))
    #expect(RetryPolicy.delay(after: 6, chance: 0.5) == .milliseconds(6400))
    #expect(RetryPolicy.delay(after: 100, chance: 0.5) == .seconds(60))
    #expect(RetryPolicy.delay(after: .max, chance: 1) == .seconds(75))
  }

  @Test("outcomes name what was not delivered and what lies beyond the settled part")
  func gathering() {
    var gathered = GatheredOutcomes()
    #expect(!gathered.isOwed)
    gathered.add(key(1), .delivered)
    gathered.add(key(2), .abandoned)
    gathered.add(key(5), .delivered)
    let outcomes = gathered.take(oldestPending: LogPosition(4), enumerated: LogPosition(9))
    #expect(outcomes.settledThrough == LogPosition(3) && !gathered.isOwed)
    #expect(outcomes.outcomes.map(\.position.value) == [2, 5])
    gathered.restore(outcomes.outcomes)
    #expect(gathered.isOwed)
    let all = gathered.take(oldestPending: nil, enumerated: LogPosition(9))
    #expect(all.settledThrough == LogPosition(9) && all.outcomes.map(\.result) == [.abandoned])
  }

  @Test("an event holds a bounded number of outcomes; the rest follows in the next")
  func bounded() {
    var gathered = GatheredOutcomes()
    for position in 1...UInt64(GatheredOutcomes.perEvent + 1) { gathered.add(key(position), .abandoned) }
    let first = gathered.take(oldestPending: nil, enumerated: LogPosition(5000))
    #expect(first.outcomes.count == GatheredOutcomes.perEvent && gathered.isOwed)
    #expect(first.settledThrough == LogPosition(UInt64(GatheredOutcomes.perEvent)), "the last outcome is not in it")
    let second = gathered.take(oldestPending: nil, enumerated: LogPosition(5000))
    #expect(second.outcomes.count == 1 && !gathered.isOwed && second.settledThrough == LogPosition(5000))
  }

  @Test("what was delivered behind the first outcome that is left is recorded with a later event")
  func boundedAmongDelivered() {
    var gathered = GatheredOutcomes()
    let last = UInt64(GatheredOutcomes.perEvent + 3)
    for position in 1...last { gathered.add(key(position), position == last - 1 ? .delivered : .abandoned) }
    let first = gathered.take(oldestPending: nil, enumerated: LogPosition(5000))
    #expect(first.settledThrough == LogPosition(UInt64(GatheredOutcomes.perEvent)))
    let second = gathered.take(oldestPending: LogPosition(last - 1), enumerated: LogPosition(5000))
    #expect(second.settledThrough == LogPosition(last - 2))
    #expect(second.outcomes.map(\.position.value) == [last - 2, last - 1, last])
  }
}
