import ChatDomain
import ChatPrimitives
import Foundation
import Synchronization
import Testing

@testable import ChatPush

/// Anna sends messages. Ben has two devices, and Carla has one.
private func company() -> [RecordedEvent] {
  var script = Script()
  for (user, name) in [(anna, "Anna"), (ben, "Ben"), (carla, "Carla")] { script.register(user, name) }
  script.create(tea, by: anna, ben, carla)
  script.device(bensPhone, of: ben, token: "b")
  script.device(bensTablet, of: ben, token: "b2")
  script.device(carlasPhone, of: carla, token: "c")
  return script.events
}

@Suite(.timeLimit(.minutes(2))) struct DispatcherTests {
  private func positions(_ notifications: [PushNotification], _ device: DeviceID) -> [UInt64] {
    notifications.filter { $0.key.device == device }.map(\.key.position.value)
  }

  @Test("the first start enables push, and sends only later messages")
  func baseline() async throws {
    let (folder, sender) = (TemporaryFolder(), ScriptedSender())
    let log = MemoryLog(company())
    log.send(1)
    try await withPush(folder, log, sender) {
      #expect(log.outcomes == [PushOutcomes(settledThrough: .origin, outcomes: [])])
      let position = log.send(2)
      try await eventually { log.outcomes.last.map { $0.settledThrough >= position } ?? false }
      #expect(Set(sender.sent.map(\.key.device)) == [bensPhone, bensTablet, carlasPhone])
      #expect(sender.sent.allSatisfy { $0.key.position == position && $0.badge == 2 })
      #expect(Set(sender.sent.map(\.deliveryKey)).count == 3)
    }
    #expect(sender.isClosed)
  }

  @Test("failed notifications are sent again under the same key until all are delivered, in order for each device")
  func failures() async throws {
    let (folder, log) = (TemporaryFolder(), MemoryLog(company()))
    let sender = ScriptedSender { notification, attempt in
      // Every third notification fails twice; the tablet is slow, so that completions come out of order.
      if notification.key.device == bensTablet { try? await Task.sleep(for: .milliseconds(20)) }
      return attempt <= 2 && notification.key.position.value % 3 == 0
        ? .failed(reason: "busy") : .delivered(response: "200")
    }
    try await withPush(folder, log, sender) {
      let sent = (1...12).map { log.send($0) }
      try await eventually { log.outcomes.last.map { $0.settledThrough >= sent[11] } ?? false }
      for device in [bensPhone, bensTablet, carlasPhone] {
        let order = positions(sender.sent, device)
        #expect(order == order.sorted(), "a device is notified in the order of the events")
        #expect(Set(order) == Set(sent.map(\.value)))
        #expect(order.count == 12 + 2 * sent.count { $0.value % 3 == 0 })
      }
      #expect(sender.mostAtOnceToOneDevice == 1)
      let keys = Dictionary(grouping: sender.sent, by: \.key).mapValues { Set($0.map(\.deliveryKey)) }
      #expect(keys.values.allSatisfy { $0.count == 1 } && Set(keys.values).count == 36)
    }
  }

  @Test("a device that fails while many alerts wait gets all of them in order once it can be reached")
  func many() async throws {
    let (folder, log) = (TemporaryFolder(), MemoryLog(company()))
    let isOpen = Mutex(false)
    let sender = ScriptedSender { notification, _ in
      notification.key.device != bensPhone || isOpen.withLock { $0 }
        ? .delivered(response: "200") : .failed(reason: "not yet")
    }
    try await withPush(folder, log, sender) {
      let sent = (1...UInt64(3 * DeviceQueue.alertsInMemory)).map { log.send($0) }
      try await eventually { positions(sender.sent, bensTablet).count == sent.count }
      #expect(log.outcomes.allSatisfy { $0.settledThrough < sent[0] })
      isOpen.withLock { $0 = true }
      try await eventually { log.outcomes.last.map { $0.settledThrough >= sent[sent.count - 1] } ?? false }
      let order = positions(sender.sent, bensPhone)
      #expect(order == order.sorted() && Set(order) == Set(sent.map(\.value)))
      #expect(order.count { $0 != sent[0].value } == sent.count - 1, "only the first one failed")
    }
  }

  @Test("a notification that hangs does not delay others, and the log lists those that were settled after it")
  func outOfOrder() async throws {
    let (folder, log) = (TemporaryFolder(), MemoryLog(company()))
    let isOpen = Mutex(false)
    let sender = ScriptedSender { notification, _ in
      guard notification.key.device == bensPhone, notification.content.text == "text 1" else {
        return .delivered(response: "200")
      }
      return isOpen.withLock { $0 } ? .delivered(response: "200") : .failed(reason: "not yet")
    }
    try await withPush(folder, log, sender) {
      let first = log.send(1)
      let second = log.send(2)
      try await eventually {
        log.outcomes.contains { $0.outcomes.contains { $0.position == second && $0.device == carlasPhone } }
      }
      #expect(log.outcomes.allSatisfy { $0.settledThrough < first })
      #expect(positions(sender.sent, bensPhone).allSatisfy { $0 == first.value }, "its own later notifications wait")
      isOpen.withLock { $0 = true }
      try await eventually { log.outcomes.last.map { $0.settledThrough >= second } ?? false }
    }
  }

  @Test("a replaced silent notification is recorded as such, and the newest one has the current badge")
  func replaced() async throws {
    let (folder, log) = (TemporaryFolder(), MemoryLog(company()))
    let isOpen = Mutex(false)
    let sender = ScriptedSender { notification, _ in
      notification.isAlert || isOpen.withLock { $0 } ? .delivered(response: "200") : .failed(reason: "not yet")
    }
    func read(_ number: UInt64) -> LogPosition {
      log.append(.room(tea, .reading(.markerMoved(ben, to: .numbered(number), ordinal: number))), by: ben)
    }
    try await withPush(folder, log, sender) {
      for number: UInt64 in 1...3 { log.send(number) }
      let first = read(1)
      try await eventually { Set(sender.sent.filter { $0.key.position == first }.map(\.key.device)).count == 2 }
      let second = read(2)
      let third = read(3)
      try await eventually { log.outcomes.flatMap(\.outcomes).count { $0.position == second } == 2 }
      #expect(
        log.outcomes.flatMap(\.outcomes).allSatisfy {
          $0.position != second || ($0.result == .abandoned && $0.reason == .replaced)
        })
      isOpen.withLock { $0 = true }
      try await eventually { log.outcomes.last.map { $0.settledThrough >= third } ?? false }
      for device in [bensPhone, bensTablet] {
        let silent = sender.sent.filter { !$0.isAlert && $0.key.device == device }
        #expect(Set(silent.map(\.key.position)) == [first, third])
        #expect(silent.last?.badge == 0)
      }
    }
  }

  @Test("an invalid token is recorded, and the device gets no notifications until it registers another")
  func deadToken() async throws {
    let (folder, log) = (TemporaryFolder(), MemoryLog(company()))
    let sender = ScriptedSender { notification, _ in
      notification.token.token == "b" ? .tokenInvalid(response: "410") : .delivered(response: "200")
    }
    try await withPush(folder, log, sender) {
      let first = log.send(1)
      try await eventually { log.outcomes.last.map { $0.settledThrough >= first } ?? false }
      #expect(
        log.events.contains {
          $0.event == .user(ben, .devices(.tokenInvalidated(bensPhone, PushToken(provider: .apns, token: "b"))))
        })
      #expect(
        log.outcomes.flatMap(\.outcomes).contains(
          PushOutcome(position: first, user: ben, device: bensPhone, result: .tokenInvalid, response: "410")),
        "what was not delivered is named")
      let second = log.send(2)
      try await eventually { log.outcomes.last.map { $0.settledThrough >= second } ?? false }
      #expect(positions(sender.sent, bensPhone) == [first.value])
      log.append(.user(ben, .devices(.updated(bensPhone, .with("new")))), by: ben)
      let third = log.send(3)
      try await eventually { positions(sender.sent, bensPhone).last == third.value }
    }
  }

  @Test("a notification whose token is replaced after a failed attempt goes to the new token")
  func replacedToken() async throws {
    let (folder, log) = (TemporaryFolder(), MemoryLog(company()))
    let sender = ScriptedSender { notification, _ in
      guard notification.token.token == "b" else { return .delivered(response: "200") }
      log.append(.user(ben, .devices(.updated(bensPhone, .with("new")))), by: ben)
      return .tokenInvalid(response: "410")
    }
    try await withPush(folder, log, sender) {
      let position = log.send(1)
      try await eventually { log.outcomes.last.map { $0.settledThrough >= position } ?? false }
      #expect(sender.sent.filter { $0.key.device == bensPhone }.map(\.token.token) == ["b", "new"])
      #expect(log.outcomes.flatMap(\.outcomes).allSatisfy { $0.result == .delivered })
    }
  }

  @Test("a lost outbox is rebuilt from the log with the unsettled rows; an intact one continues")
  func restarts() async throws {
    for losesFile in [true, false] {
      let (folder, log) = (TemporaryFolder(), MemoryLog(company()))
      let refusing = ScriptedSender { notification, _ in
        notification.key.device == carlasPhone ? .failed(reason: "down") : .delivered(response: "200")
      }
      let sent = try await withPush(folder, log, refusing) {
        let sent = [log.send(1), log.send(2)]
        try await eventually {
          Set(log.outcomes.flatMap(\.outcomes).map(\.position)) == Set(sent)
            && positions(refusing.sent, bensTablet).count == 2
        }
        return sent
      }
      // The outcomes that were recorded before the stop are in the log; the others are not.
      if losesFile { try FileManager.default.removeItem(atPath: folder.path) }
      let again = MemoryLog(log.events)
      let sender = ScriptedSender()
      try await withPush(folder, again, sender) {
        try await eventually { again.outcomes.last.map { $0.settledThrough >= sent[1] } ?? false }
        #expect(Set(sender.sent.map(\.key.device)) == [carlasPhone] && sender.sent.map(\.key.position) == sent)
        #expect(sender.sent.map(\.badge) == [2, 2], "alerts have the badge of when they are sent")
        let before = Set(refusing.sent.filter { $0.key.device == carlasPhone }.map(\.deliveryKey))
        #expect(before.isSubset(of: Set(sender.sent.map(\.deliveryKey))))
      }
      // After another start, nothing is left to send.
      let last = MemoryLog(again.events)
      let silent = ScriptedSender()
      if losesFile { try FileManager.default.removeItem(atPath: folder.path) }
      try await withPush(folder, last, silent) { try await Task.sleep(for: .milliseconds(200)) }
      // A lost file does not show that push was switched on before, so the server records that again.
      #expect(silent.sent.isEmpty && last.outcomes.count == again.outcomes.count + (losesFile ? 1 : 0))
    }
  }

  @Test("outcomes that cannot be recorded are recorded later")
  func recordingFails() async throws {
    let (folder, log, sender) = (TemporaryFolder(), MemoryLog(company()), ScriptedSender())
    try await withPush(folder, log, sender) {
      log.fail(.transient("overloaded"), .transient("overloaded"))
      let position = log.send(1)
      try await eventually { log.outcomes.last.map { $0.settledThrough >= position } ?? false }
      #expect(sender.sent.count == 3, "what is delivered is not sent again")
    }
  }

  @Test(
    "operators read why outcomes cannot be recorded",
    arguments: [
      RecordingFailure.transient("the disk is full"), .permanent("the disk is full"),
    ])
  func failureText(_ failure: RecordingFailure) {
    #expect("\(failure)" == "the disk is full")
  }

  @Test("nothing is sent once the log accepts no more events")
  func poisoned() async throws {
    let (folder, log, sender) = (TemporaryFolder(), MemoryLog(company()), ScriptedSender())
    try await withPush(folder, log, sender) {
      log.fail(.permanent("poisoned"))
      log.send(1)
      try await eventually { sender.sent.count == 3 && log.failuresLeft == 0 }
      // The log counts the failure shortly before the dispatcher receives it.
      try await Task.sleep(for: .milliseconds(400))
      log.send(2)
      try await Task.sleep(for: .milliseconds(200))
      #expect(sender.sent.count == 3)
    }
  }

  @Test("a notification that is older than a day is not sent")
  func tooOld() async throws {
    let (folder, log, sender) = (TemporaryFolder(), MemoryLog(company()), ScriptedSender())
    let late = Script.time(LogPosition(1000)).adding(milliseconds: RetryPolicy.lifetimeMilliseconds)
    try await withPush(folder, log, sender, now: { late }) {
      let position = log.send(1)
      try await eventually { log.outcomes.last.map { $0.settledThrough >= position } ?? false }
      #expect(sender.sent.isEmpty)
      #expect(log.outcomes.flatMap(\.outcomes).map(\.result) == [.abandoned, .abandoned, .abandoned])
    }
  }

  @Test("a stop waits for the notifications in flight and records their outcomes")
  func stops() async throws {
    let (folder, log) = (TemporaryFolder(), MemoryLog(company()))
    let sender = ScriptedSender { _, _ in
      try? await Task.sleep(for: .milliseconds(300))
      return .delivered(response: "200")
    }
    let position = try await withPush(folder, log, sender) {
      let position = log.send(1)
      try await eventually { sender.sent.count == 3 }
      return position
    }
    #expect(log.outcomes.last.map { $0.settledThrough >= position } == true && sender.sent.count == 3)
  }
}
