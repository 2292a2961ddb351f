import ChatDomain
import ChatPrimitives
import ChatProjections
import ChatService
import Synchronization
import Testing

@testable import ChatPush

/// Anna sends messages to Ben, who has `devices` devices.
private func company(devices: UInt64) -> MemoryLog {
  var script = Script()
  for (user, name) in [(anna, "Anna"), (ben, "Ben")] { script.register(user, name) }
  script.create(tea, by: anna, ben)
  for number in 0..<devices { script.device(.numbered(1000 + number), of: ben, token: "token \(number)") }
  return MemoryLog(script.events)
}

/// While the outbox or the log fails, push uses few resources and does not stop the rest of the server.
@Suite(.timeLimit(.minutes(2))) struct OutboxFaultTests {
  /// How long the dispatcher pauses after a failure.
  private static let pause = Duration.milliseconds(500)
  /// How long a test counts attempts.
  private static let counting = Duration.milliseconds(1200)

  @Test("an outbox that is behind does not delay the start; only messages sent after the start are pushed later")
  func isBehind() async throws {
    let (folder, log, sender) = (TemporaryFolder(), company(devices: 2), ScriptedSender())
    log.send(1)
    log.hold()
    try await withPushService(folder, log, sender) { push in
      let position = log.send(2)
      #expect(!push.status.outbox.isReadable && sender.sent.isEmpty)
      log.release()
      try await eventually { log.outcomes.last.map { $0.settledThrough >= position } ?? false }
      #expect(sender.sent.map(\.key.position) == [position, position])
      try await eventually { push.status.outbox.isReadable }
    }
  }

  @Test("an outbox that halts at the start is reported, and can be closed")
  func halts() async throws {
    let (folder, log, sender) = (TemporaryFolder(), company(devices: 1), ScriptedSender())
    log.makeUnreadable()
    try await withPushService(folder, log, sender) { push in
      try await eventually { push.status.outbox.fault?.kind == .permanent }
      log.send(1)
    }
    #expect(sender.sent.isEmpty && sender.isClosed)
  }

  @Test("attempts that find the outbox behind are repeated only after a pause, however many devices wait")
  func pausesAttempts() async throws {
    let devices = 200
    let (folder, log, sender) = (TemporaryFolder(), company(devices: UInt64(devices)), ScriptedSender())
    log.append(.server(.pushOutcomesRecorded(PushOutcomes(settledThrough: .origin, outcomes: []))))
    let position = log.send(1)
    let outbox = try ProjectionRunner<PushProjection>.open(
      directory: folder.path, feed: log, logIdentity: testLog, logger: testLogger)
    outbox.start()
    try await outbox.wait(for: position, timeoutMilliseconds: 120_000)
    log.hold()
    log.append(.user(ben, .devices(.updated(.numbered(1000), .with("token 0")))), by: ben)
    // Each attempt reads the head once.
    let attempts = Mutex(0)
    let dispatcher = PushDispatcher(
      outbox: outbox,
      head: {
        attempts.withLock { $0 += 1 }
        return log.head
      },
      recorder: log, sender: sender, logIdentity: testLog, logger: testLogger, now: { Script.time(position) },
      outboxTimeoutMilliseconds: 1)
    let begin = ContinuousClock.now
    let running = Task { await dispatcher.run() }
    try await eventually { attempts.withLock { $0 } > 0 }
    try await Task.sleep(for: Self.counting)
    let made = attempts.withLock { $0 }
    let pauses = Int((ContinuousClock.now - begin) / Self.pause)
    #expect(made <= PushDispatcher.concurrency * (pauses + 2))
    #expect(sender.sent.isEmpty)
    log.release()
    try await eventually { sender.sent.count == devices }
    dispatcher.stop()
    await running.value
    log.close()
    try outbox.stop()
    #expect(Set(sender.sent.map(\.key)).count == devices, "each device is notified once")
  }

  @Test("a full event of outcomes that cannot be recorded is recorded again after a pause")
  func pausesRecording() async throws {
    let (folder, log) = (TemporaryFolder(), company(devices: 3))
    // Outcomes after a notification that still waits must be listed, so those of the other devices fill an event.
    let unreachable = DeviceID.numbered(1000)
    let sender = ScriptedSender { notification, _ in
      notification.key.device == unreachable ? .failed(reason: "down") : .delivered(response: "200")
    }
    try await withPush(folder, log, sender) {
      log.failNext(1_000_000)
      let messages = GatheredOutcomes.perEvent / 2 + 1
      for number in 1...messages { log.send(UInt64(number)) }
      try await eventually { sender.sent.count { $0.key.device != unreachable } == 2 * messages }
      let (begin, before) = (ContinuousClock.now, log.failuresLeft)
      try await eventually { log.failuresLeft < before }
      try await Task.sleep(for: Self.counting)
      let failed = before - log.failuresLeft
      let pauses = Int((ContinuousClock.now - begin) / Self.pause)
      #expect(failed <= pauses + 2)
      log.stopFailing()
      try await eventually { Set(log.outcomes.flatMap(\.outcomes)).count == 2 * messages }
      #expect(sender.sent.count { $0.key.device != unreachable } == 2 * messages, "it is not sent again")
    }
  }
}
