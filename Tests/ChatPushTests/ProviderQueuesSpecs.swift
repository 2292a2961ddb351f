import ChatDomain
import ChatPrimitives
import Testing

@testable import ChatPush

@Suite("The queues of the dispatcher")
struct ProviderQueuesSpecs {
  private let start = ContinuousClock.now

  private func rows(_ positions: ClosedRange<UInt64>, of user: UserID = ben) -> [PendingNotification] {
    positions.map { position in
      PendingNotification(
        PushNotificationKey(
          position: LogPosition(position), user: user, device: DeviceID(UUIDBytes(high: 7, low: position))))
    }
  }

  /// Queues for APNs and FCM with this many notifications of different users each.
  private func queues(_ count: UInt64 = 8, concurrency: Int = 4) throws -> ProviderQueues {
    var queues = ProviderQueues([.apns, .fcm].map { ProviderQueueSettings($0, concurrency: concurrency) })
    for first in [0, count] {
      let request = try #require(queues.needed)
      let rows = (1...count).map { number in
        PendingNotification(
          PushNotificationKey(
            position: LogPosition(first + number), user: UserID(UUIDBytes(high: 8, low: first + number)),
            device: bensPhone))
      }
      _ = queues.take(rows, for: request, through: LogPosition(2 * count))
    }
    return queues
  }

  @Test("ask for the rows of each provider, after those they already have")
  func requests() throws {
    var queues = ProviderQueues([ProviderQueueSettings(.apns), ProviderQueueSettings(.fcm)])
    let first = try #require(queues.needed)
    #expect(first.provider == .apns && first.cursor == .origin && first.freeCapacity == PerDeviceQueues.capacity)
    _ = queues.take(rows(3...3), for: first, through: nil)
    let second = try #require(queues.needed)
    #expect(second.provider == .fcm && second.cursor == .origin, "they take turns")
    _ = queues.take([], for: second, through: LogPosition(9))
    let again = try #require(queues.needed)
    #expect(again.provider == .apns && again.cursor == rows(3...3)[0].key)
    _ = queues.take([], for: again, through: LogPosition(9))
    #expect(queues.needed == nil && queues.oldest == LogPosition(3))
    #expect(queues.cursors.map(\.cursor) == [.last(at: LogPosition(9)), .last(at: LogPosition(9))])
    #expect(try #require(queues.cursors.first).cursor < rows(10...10)[0].key)
    queues.outboxGrew()
    #expect(queues.needed?.provider == .fcm)
  }

  @Test("take turns, and each has its own slots")
  func turns() throws {
    var queues = try queues(concurrency: 2)
    let starts = (1...4).compactMap { _ in queues.next(at: start) }
    #expect(starts.map(\.provider) == [.apns, .fcm, .apns, .fcm])
    #expect(queues.next(at: start) == nil && queues.active == 4)
    #expect(queues.end(starts[0].ticket, .reached, from: .apns, at: start) == nil)
    queues.complete(starts[0].attempt.key, starts[0].ticket, at: start)
    #expect(queues.next(at: start)?.provider == .apns)
  }

  @Test("a stopped provider keeps its notifications and holds up no other; what it did not accept is no attempt")
  func stopped() throws {
    var queues = try queues()
    let firstStart = queues.next(at: start)
    let first = try #require(firstStart)
    let change = queues.end(first.ticket, .stopped(reason: "key"), from: .apns, at: start)
    #expect(change?.provider == .apns && change?.change == .stopped(reason: "key"))
    _ = queues.retry(first.attempt.key, first.ticket, at: start, counts: false, keepsAlerts: true, now: start)
    #expect(queues.closed == [.apns])
    var sent: [LogPosition] = []
    while let next = queues.next(at: start) {
      #expect(next.provider == .fcm)
      sent.append(next.attempt.key.position)
      _ = queues.end(next.ticket, .reached, from: .fcm, at: start)
      queues.complete(next.attempt.key, next.ticket, at: start)
    }
    #expect(sent == (9...16).map { LogPosition($0) })
    #expect(queues.oldest == LogPosition(1))
    let later = start + .seconds(ProviderGate.stoppedSeconds)
    #expect(queues.nextDue(at: start) == later)
    let trialStart = queues.next(at: later)
    let trial = try #require(trialStart)
    #expect(trial.attempt.key != first.attempt.key, "one device alone cannot keep a provider stopped")
    #expect(queues.next(at: later) == nil, "one notification tries")
    #expect(queues.nextDue(at: later) == nil)
    #expect(queues.end(trial.ticket, .reached, from: .apns, at: later)?.change == .recovered)
    queues.complete(trial.attempt.key, trial.ticket, at: start)
    var last: PerDeviceQueues.Attempt?
    while let next = queues.next(at: later) {
      #expect(next.provider == .apns)
      last = next.attempt
      queues.complete(next.attempt.key, next.ticket, at: later)
    }
    #expect(last == first.attempt, "what was not accepted does not count as an attempt")
  }

  @Test("a full queue does not take capacity from the others")
  func full() throws {
    var queues = ProviderQueues([ProviderQueueSettings(.apns), ProviderQueueSettings(.fcm)])
    let request = try #require(queues.needed)
    _ = queues.take(rows(1...UInt64(PerDeviceQueues.capacity)), for: request, through: nil)
    let other = try #require(queues.needed)
    #expect(other.provider == .fcm && other.freeCapacity == PerDeviceQueues.capacity)
  }

  @Test("an attempt for a device that has changed its provider counts for the new provider")
  func changedProvider() throws {
    var queues = try queues()
    let firstStart = queues.next(at: start)
    let first = try #require(firstStart)
    #expect(first.provider == .apns)
    let change = queues.end(first.ticket, .stopped(reason: "key"), from: .fcm, at: start)
    #expect(change?.provider == .fcm && queues.closed == [.fcm])
  }

  @Test("the queue of a webhook has no provider, so it reports no change of a provider")
  func webhook() throws {
    var queues = ProviderQueues()
    let request = try #require(queues.needed)
    _ = queues.take(rows(1...1), for: request, through: nil)
    let firstStart = queues.next(at: start)
    let first = try #require(firstStart)
    #expect(first.provider == nil && queues.states.isEmpty)
    #expect(queues.end(first.ticket, .failed, from: .apns, at: start) == nil)
    _ = queues.retry(first.attempt.key, first.ticket, at: start + .seconds(1), counts: true, now: start)
    #expect(queues.nextDue(at: start) == start + .seconds(1))
    #expect(queues.next(at: start + .seconds(1))?.attempt.number == 2)
  }
}
