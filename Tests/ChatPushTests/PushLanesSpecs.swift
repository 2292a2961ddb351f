import ChatDomain
import ChatPrimitives
import Testing

@testable import ChatPush

@Suite("The lanes of the dispatcher")
struct PushLanesSpecs {
  private let start = ContinuousClock.now

  private func rows(_ positions: ClosedRange<UInt64>, of user: UserID = ben) -> [PendingNotification] {
    positions.map { position in
      PendingNotification(
        PushNotificationKey(
          position: LogPosition(position), user: user, device: DeviceID(UUIDBytes(high: 7, low: position))))
    }
  }

  /// Lanes for APNs and FCM with this many notifications of different users each.
  private func lanes(_ count: UInt64 = 8, concurrency: Int = 4) throws -> PushLanes {
    var lanes = PushLanes([.apns, .fcm].map { PushLane($0, concurrency: concurrency) })
    for first in [0, count] {
      let request = try #require(lanes.needed)
      let rows = (1...count).map { number in
        PendingNotification(
          PushNotificationKey(
            position: LogPosition(first + number), user: UserID(UUIDBytes(high: 8, low: first + number)),
            device: bensPhone))
      }
      _ = lanes.take(rows, for: request, through: LogPosition(2 * count))
    }
    return lanes
  }

  @Test("ask for the rows of each provider, after those they already have")
  func requests() throws {
    var lanes = PushLanes([PushLane(.apns), PushLane(.fcm)])
    let first = try #require(lanes.needed)
    #expect(first.provider == .apns && first.cursor == .origin && first.freeCapacity == PerDeviceQueues.capacity)
    _ = lanes.take(rows(3...3), for: first, through: nil)
    let second = try #require(lanes.needed)
    #expect(second.provider == .fcm && second.cursor == .origin, "they take turns")
    _ = lanes.take([], for: second, through: LogPosition(9))
    let again = try #require(lanes.needed)
    #expect(again.provider == .apns && again.cursor == rows(3...3)[0].key)
    _ = lanes.take([], for: again, through: LogPosition(9))
    #expect(lanes.needed == nil && lanes.oldest == LogPosition(3))
    #expect(lanes.cursors.map(\.cursor) == [.last(at: LogPosition(9)), .last(at: LogPosition(9))])
    #expect(try #require(lanes.cursors.first).cursor < rows(10...10)[0].key)
    lanes.outboxGrew()
    #expect(lanes.needed?.provider == .fcm)
  }

  @Test("take turns, and each has its own slots")
  func turns() throws {
    var lanes = try lanes(concurrency: 2)
    let starts = (1...4).compactMap { _ in lanes.next(at: start) }
    #expect(starts.map(\.provider) == [.apns, .fcm, .apns, .fcm])
    #expect(lanes.next(at: start) == nil && lanes.active == 4)
    #expect(lanes.end(starts[0].ticket, .reached, from: .apns, at: start) == nil)
    lanes.complete(starts[0].attempt.key, starts[0].ticket, at: start)
    #expect(lanes.next(at: start)?.provider == .apns)
  }

  @Test("a stopped provider keeps its notifications and holds up no other; what it did not accept is no attempt")
  func stopped() throws {
    var lanes = try lanes()
    let firstStart = lanes.next(at: start)
    let first = try #require(firstStart)
    let change = lanes.end(first.ticket, .stopped(reason: "key"), from: .apns, at: start)
    #expect(change?.provider == .apns && change?.change == .stopped(reason: "key"))
    _ = lanes.retry(first.attempt.key, first.ticket, at: start, counts: false, keepsAlerts: true, now: start)
    #expect(lanes.closed == [.apns])
    var sent: [LogPosition] = []
    while let next = lanes.next(at: start) {
      #expect(next.provider == .fcm)
      sent.append(next.attempt.key.position)
      _ = lanes.end(next.ticket, .reached, from: .fcm, at: start)
      lanes.complete(next.attempt.key, next.ticket, at: start)
    }
    #expect(sent == (9...16).map { LogPosition($0) })
    #expect(lanes.oldest == LogPosition(1))
    let later = start + .seconds(ProviderGate.stoppedSeconds)
    #expect(lanes.nextDue(at: start) == later)
    let trialStart = lanes.next(at: later)
    let trial = try #require(trialStart)
    #expect(trial.attempt.key != first.attempt.key, "one device alone cannot keep a provider stopped")
    #expect(lanes.next(at: later) == nil, "one notification tries")
    #expect(lanes.nextDue(at: later) == nil)
    #expect(lanes.end(trial.ticket, .reached, from: .apns, at: later)?.change == .recovered)
    lanes.complete(trial.attempt.key, trial.ticket, at: start)
    var last: PerDeviceQueues.Attempt?
    while let next = lanes.next(at: later) {
      #expect(next.provider == .apns)
      last = next.attempt
      lanes.complete(next.attempt.key, next.ticket, at: later)
    }
    #expect(last == first.attempt, "what was not accepted does not count as an attempt")
  }

  @Test("a full lane does not take capacity from the others")
  func full() throws {
    var lanes = PushLanes([PushLane(.apns), PushLane(.fcm)])
    let request = try #require(lanes.needed)
    _ = lanes.take(rows(1...UInt64(PerDeviceQueues.capacity)), for: request, through: nil)
    let other = try #require(lanes.needed)
    #expect(other.provider == .fcm && other.freeCapacity == PerDeviceQueues.capacity)
  }

  @Test("an attempt for a device that has changed its provider counts for the new provider")
  func changedProvider() throws {
    var lanes = try lanes()
    let firstStart = lanes.next(at: start)
    let first = try #require(firstStart)
    #expect(first.provider == .apns)
    let change = lanes.end(first.ticket, .stopped(reason: "key"), from: .fcm, at: start)
    #expect(change?.provider == .fcm && lanes.closed == [.fcm])
  }

  @Test("the lane of a webhook has no provider, so it reports no change of a provider")
  func webhook() throws {
    var lanes = PushLanes()
    let request = try #require(lanes.needed)
    _ = lanes.take(rows(1...1), for: request, through: nil)
    let firstStart = lanes.next(at: start)
    let first = try #require(firstStart)
    #expect(first.provider == nil && lanes.states.isEmpty)
    #expect(lanes.end(first.ticket, .failed, from: .apns, at: start) == nil)
    _ = lanes.retry(first.attempt.key, first.ticket, at: start + .seconds(1), counts: true, now: start)
    #expect(lanes.nextDue(at: start) == start + .seconds(1))
    #expect(lanes.next(at: start + .seconds(1))?.attempt.number == 2)
  }
}
