import ChatDomain
import ChatPrimitives
import Testing

@testable import ChatPush

@Suite struct PerDeviceQueuesTests {
  private let start = ContinuousClock.now

  private func key(_ position: UInt64, _ device: DeviceID = bensPhone, of user: UserID = ben) -> PushNotificationKey {
    PushNotificationKey(position: LogPosition(position), user: user, device: device)
  }

  /// Keys of one device each of many users, or of many devices of one user.
  private func keys(_ count: Int, of user: UserID? = nil) -> [PushNotificationKey] {
    (1...UInt64(count)).map { number in
      key(1, DeviceID(UUIDBytes(high: 7, low: number)), of: user ?? UserID(UUIDBytes(high: 8, low: number)))
    }
  }

  private func take(_ keys: [PushNotificationKey], into queues: inout PerDeviceQueues) {
    #expect(queues.take(keys.map { PendingNotification($0) }) == [])
  }

  @Test("a device gets one notification at a time and in order; devices do not wait for each other")
  func queues() {
    var queues = PerDeviceQueues()
    take([key(1), key(1, bensTablet), key(2), key(2, bensTablet)], into: &queues)
    #expect(queues.cursor == key(2, bensTablet) && queues.count == 4)
    #expect(queues.next(at: start) == .init(key: key(1), number: 1))
    #expect(queues.next(at: start) == .init(key: key(1, bensTablet), number: 1))
    #expect(queues.next(at: start) == nil && queues.active == 2)
    queues.complete(key(1, bensTablet), at: start)
    #expect(queues.next(at: start) == .init(key: key(2, bensTablet), number: 1))
    #expect(queues.oldest == LogPosition(1))
    queues.complete(key(1), at: start)
    #expect(queues.next(at: start) == .init(key: key(2), number: 1))
    #expect(queues.oldest == LogPosition(2))
    queues.complete(key(2), at: start)
    queues.complete(key(2, bensTablet), at: start)
    #expect(queues.oldest == nil && queues.count == 0 && queues.active == 0)
  }

  @Test("a failed notification is sent again when it is due, before the later ones of its device")
  func retries() {
    var queues = PerDeviceQueues()
    take([key(1), key(2), key(3, bensTablet)], into: &queues)
    #expect(queues.next(at: start)?.key == key(1))
    _ = queues.retry(key(1), at: start + .seconds(2), now: start)
    #expect(queues.next(at: start)?.key == key(3, bensTablet))
    _ = queues.retry(key(3, bensTablet), at: start + .seconds(1), now: start)
    #expect(queues.next(at: start) == nil && queues.nextDue == start + .seconds(1))
    #expect(queues.next(at: start + .seconds(1)) == .init(key: key(3, bensTablet), number: 2))
    #expect(queues.next(at: start + .seconds(2)) == .init(key: key(1), number: 2))
    _ = queues.retry(key(1), at: start + .seconds(3), counts: false, now: start)
    #expect(queues.next(at: start + .seconds(3)) == .init(key: key(1), number: 2), "it was not tried")
    queues.complete(key(1), at: start)
    read([key(2)], into: &queues)
    #expect(
      queues.next(at: start + .seconds(2)) == .init(key: key(2), number: 1), "attempts are counted by notification")
  }

  @Test(
    "a device that has to wait keeps only one alert in memory, whether or not anything was sent",
    arguments: [true, false])
  func waitingDevice(counts: Bool) {
    var queues = PerDeviceQueues()
    take([key(1), key(2), key(3)], into: &queues)
    #expect(queues.next(at: start)?.key == key(1))
    _ = queues.retry(key(1), at: start + .seconds(2), counts: counts, now: start)
    #expect(queues.count == 1 && queues.next(at: start + .seconds(2))?.key == key(1))
    queues.complete(key(1), at: start)
    read([key(2), key(3)], into: &queues)
    #expect(queues.count == 2 && queues.next(at: start)?.key == key(2))
  }

  @Test("a wait that is not due to the device does not change what is in memory", arguments: [0, 1])
  func keepsAlerts(seconds: Int) {
    var queues = PerDeviceQueues()
    take([key(1), key(2)], into: &queues)
    #expect(queues.next(at: start)?.key == key(1))
    let due = start + .seconds(seconds)
    _ = queues.retry(key(1), at: due, counts: false, keepsAlerts: true, now: start)
    #expect(queues.count == 2 && queues.next(at: due) == .init(key: key(1), number: 1))
    queues.complete(key(1), at: due)
    #expect(queues.alertsNeeded(1) == [] && queues.next(at: due)?.key == key(2))
  }

  /// Responds to the only request for alerts that were left in the outbox.
  private func read(_ left: [PushNotificationKey], into queues: inout PerDeviceQueues) {
    let requests = queues.alertsNeeded(2)
    #expect(requests.count == 1)
    guard let request = requests.first else { return }
    #expect(left.first.map { $0.position > request.after } ?? true)
    queues.take(Array(left.prefix(request.limit + 1)), for: request)
    #expect(queues.alertsNeeded(1) == [])
  }

  @Test("a device has few alerts in memory; the others are read again, and until then nothing is sent to it")
  func left() {
    var queues = PerDeviceQueues()
    let most = UInt64(DeviceQueue.alertsInMemory)
    let all = (1...2 * most + 1).map { key($0) }
    take(all, into: &queues)
    #expect(queues.count == Int(most) && queues.freeCapacity == PerDeviceQueues.capacity - Int(most))
    for position in 1...most {
      #expect(queues.alertsNeeded(1) == [] && queues.oldest == LogPosition(position))
      #expect(queues.next(at: start)?.key == key(position))
      queues.complete(key(position), at: start)
    }
    #expect(queues.count == 0 && queues.oldest == LogPosition(most + 1), "what was left is not settled")
    #expect(queues.next(at: start) == nil && !queues.hasReady)
    take([key(2 * most + 2)], into: &queues)
    read(Array(all.dropFirst(Int(most))), into: &queues)
    #expect(queues.count == Int(most))
    for position in most + 1...2 * most {
      #expect(queues.next(at: start)?.key == key(position))
      queues.complete(key(position), at: start)
    }
    // The outbox may already have alerts that were not taken.
    read([key(2 * most + 1), key(2 * most + 2), key(2 * most + 3)], into: &queues)
    take([key(2 * most + 3)], into: &queues)
    #expect(queues.count == 3)
    for position in 2 * most + 1...2 * most + 3 {
      #expect(queues.next(at: start)?.key == key(position))
      queues.complete(key(position), at: start)
    }
    #expect(queues.oldest == nil && queues.count == 0)
  }

  @Test("a device that fails has one alert in memory")
  func failing() {
    var queues = PerDeviceQueues()
    take([key(1), key(2), key(3)], into: &queues)
    #expect(queues.next(at: start)?.key == key(1))
    _ = queues.retry(key(1), at: start, counts: false, keepsAlerts: true, now: start)
    #expect(queues.count == 3, "it did not fail")
    #expect(queues.next(at: start)?.key == key(1))
    _ = queues.retry(key(1), at: start + .seconds(1), now: start)
    take([key(4)], into: &queues)
    #expect(queues.count == 1 && queues.oldest == LogPosition(1))
    #expect(queues.next(at: start + .seconds(1)) == .init(key: key(1), number: 2))
    queues.complete(key(1), at: start)
    #expect(queues.count == 0 && queues.oldest == LogPosition(2))
    read([key(2), key(3), key(4)], into: &queues)
    #expect(queues.count == 3 && queues.next(at: start)?.key == key(2))
  }

  @Test("if memory is full, a device whose alerts were left still gets one")
  func full() {
    var queues = PerDeviceQueues()
    take([key(1), key(2)], into: &queues)
    #expect(queues.next(at: start)?.key == key(1))
    _ = queues.retry(key(1), at: start, now: start)
    for (number, other) in keys(PerDeviceQueues.capacity).enumerated() {
      take([PushNotificationKey(position: LogPosition(UInt64(number) + 3), user: other.user, device: other.device)], into: &queues)
    }
    #expect(queues.next(at: start) == .init(key: key(1), number: 2))
    queues.complete(key(1), at: start)
    #expect(queues.freeCapacity == 0 && queues.alertsNeeded(1).map(\.limit) == [1])
    read([key(2)], into: &queues)
    #expect(queues.oldest == LogPosition(2))
  }

  @Test("retries use at most half of the slots, and the others are for first attempts")
  func retriesLeaveRoom() {
    var queues = PerDeviceQueues()
    let keys = keys(2 * queues.retries)
    take(keys, into: &queues)
    for key in keys {
      #expect(queues.next(at: start)?.key == key)
      _ = queues.retry(key, at: start + .seconds(1), now: start)
    }
    let later = start + .seconds(1)
    for _ in 0..<queues.retries { #expect(queues.next(at: later)?.number == 2) }
    #expect(queues.next(at: later) == nil && queues.active == queues.retries)
    take([key(2, bensPhone)], into: &queues)
    #expect(queues.next(at: later)?.key == key(2, bensPhone))
    queues.complete(keys[0], at: start)
    #expect(queues.next(at: later)?.number == 2, "the slot of a settled retry is free for the next")
  }

  @Test("the devices of one user use at most a quarter of the slots, with first attempts and with retries")
  func attemptsOfUser() {
    var queues = PerDeviceQueues()
    let limit = queues.attemptsOfUser
    let bens = keys(limit + 2, of: ben)
    let others = key(2, of: anna)
    take(bens + [others], into: &queues)
    for key in bens.prefix(limit) { #expect(queues.next(at: start)?.key == key) }
    #expect(queues.next(at: start)?.key == others, "others do not wait for Ben's devices")
    #expect(queues.next(at: start) == nil && queues.active == limit + 1)
    for key in bens.prefix(limit) { _ = queues.retry(key, at: start + .seconds(1), now: start) }
    for key in bens.suffix(2) { #expect(queues.next(at: start) == .init(key: key, number: 1)) }
    let later = start + .seconds(1)
    for key in bens.prefix(limit - 2) { #expect(queues.next(at: later) == .init(key: key, number: 2)) }
    #expect(queues.next(at: later) == nil && queues.active == limit + 1)
    queues.complete(bens[0], at: start)
    queues.complete(bens[limit], at: start)
    for key in bens[limit - 2..<limit] { #expect(queues.next(at: later) == .init(key: key, number: 2)) }
    #expect(queues.next(at: later) == nil)
  }

  @Test("the first retry comes after at most a quarter of a second; later delays grow up to a maximum")
  func delays() {
    #expect(RetryPolicy.delay(after: 1, chance: 0) == .milliseconds(150))
    #expect(RetryPolicy.delay(after: 1, chance: 1) == .milliseconds(250))
    #expect(RetryPolicy.delay(after: 2, chance: 0.5) == .milliseconds(400))
    #expect(RetryPolicy.delay(after: 6, chance: 0.5) == .milliseconds(6400))
    #expect(RetryPolicy.delay(after: 100, chance: 0.5) == .seconds(60))
    #expect(RetryPolicy.delay(after: .max, chance: 1) == .seconds(75))
  }

  @Test("an event lists what was not delivered, and all outcomes after the settled position")
  func gathering() {
    var gathered = GatheredOutcomes()
    #expect(!gathered.needsRecording)
    gathered.add(key(1), .delivered)
    gathered.add(key(2), .abandoned)
    gathered.add(key(5), .delivered)
    let outcomes = gathered.take(oldestPending: LogPosition(4), checkpoint: LogPosition(9))
    #expect(outcomes.settledThrough == LogPosition(3) && !gathered.needsRecording)
    #expect(outcomes.outcomes.map(\.position.value) == [2, 5])
    gathered.restore(outcomes.outcomes)
    #expect(gathered.needsRecording)
    let all = gathered.take(oldestPending: nil, checkpoint: LogPosition(9))
    #expect(all.settledThrough == LogPosition(9) && all.outcomes.map(\.result) == [.abandoned])
  }

  @Test("an event has a maximum number of outcomes; the rest follows in the next event")
  func bounded() {
    var gathered = GatheredOutcomes()
    for position in 1...UInt64(GatheredOutcomes.perEvent + 1) { gathered.add(key(position), .abandoned) }
    let first = gathered.take(oldestPending: nil, checkpoint: LogPosition(5000))
    #expect(first.outcomes.count == GatheredOutcomes.perEvent && gathered.needsRecording)
    #expect(first.settledThrough == LogPosition(UInt64(GatheredOutcomes.perEvent)), "the last outcome is not in it")
    let second = gathered.take(oldestPending: nil, checkpoint: LogPosition(5000))
    #expect(second.outcomes.count == 1 && !gathered.needsRecording && second.settledThrough == LogPosition(5000))
  }

  @Test("deliveries after the first outcome that is left over are recorded with a later event")
  func boundedAmongDelivered() {
    var gathered = GatheredOutcomes()
    let last = UInt64(GatheredOutcomes.perEvent + 3)
    for position in 1...last { gathered.add(key(position), position == last - 1 ? .delivered : .abandoned) }
    let first = gathered.take(oldestPending: nil, checkpoint: LogPosition(5000))
    #expect(first.settledThrough == LogPosition(UInt64(GatheredOutcomes.perEvent)))
    let second = gathered.take(oldestPending: LogPosition(last - 1), checkpoint: LogPosition(5000))
    #expect(second.settledThrough == LogPosition(last - 2))
    #expect(second.outcomes.map(\.position.value) == [last - 2, last - 1, last])
  }
}
