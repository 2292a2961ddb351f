import ChatDomain
import ChatPrimitives
import ChatService
import Foundation
import Synchronization
import Testing

@testable import ChatPush

/// Anna sends messages. Ben has a phone with APNs, Carla has one with FCM.
private func company() -> [RecordedEvent] {
  var script = Script()
  for (user, name) in [(anna, "Anna"), (ben, "Ben"), (carla, "Carla")] { script.register(user, name) }
  script.create(tea, by: anna, ben, carla)
  script.device(bensPhone, of: ben, token: "b")
  script.user(carla, .devices(.registered(carlasPhone, .fcm("c"))))
  return script.events
}

extension DeviceDescription {
  fileprivate static func fcm(_ token: String) -> DeviceDescription {
    DeviceDescription(name: nil, type: nil, osVersion: nil, tokens: [PushToken(provider: .fcm, token: token)])
  }
}

@Suite("The dispatcher and the states of providers", .timeLimit(.minutes(2)))
struct ProviderDispatchTests {
  private let queueSettings = [ProviderName.apns, .fcm, .webPush].map { ProviderQueueSettings($0) }

  @Test("a stopped provider keeps its notifications, is reported, and does not hold up the others")
  func stopped() async throws {
    let (folder, log) = (TemporaryFolder(), MemoryLog(company()))
    let sender = ScriptedSender(queueSettings: queueSettings) { notification, _ in
      notification.token.provider == .apns ? .providerStopped(reason: "wrong key", failure: "403") : .delivered(response: "200")
    }
    let sent = try await withPushService(folder, log, sender) { push in
      #expect(push.status.providers.allSatisfy { $0.state == .running } && push.status.providers.count == 3)
      let sent = (1...20).map { log.send($0) }
      try await eventually { sender.sent.count { $0.key.device == carlasPhone } == 20 }
      try await eventually { push.status.providers.first?.state == .stopped }
      #expect(push.status.providers.map(\.name) == ["apns", "fcm", "webPush"])
      #expect(push.status.providers.map(\.reason) == ["wrong key", nil, nil])
      #expect(sender.sent.count { $0.key.device == bensPhone } == 1, "it is tried again after a minute")
      return sent
    }
    #expect(log.outcomes.allSatisfy { $0.settledThrough < sent[0] })
    #expect(log.outcomes.flatMap(\.outcomes).allSatisfy { $0.device == carlasPhone && $0.result == .delivered })

    // With the right key, after a restart, everything arrives.
    let again = MemoryLog(log.events)
    let working = ScriptedSender(queueSettings: queueSettings)
    try await withPush(folder, again, working) {
      try await eventually { again.outcomes.last.map { $0.settledThrough >= sent[19] } ?? false }
    }
    #expect(working.sent.map(\.key.position) == sent && working.sent.allSatisfy { $0.key.device == bensPhone })
  }

  @Test("a refusal that can mean a wrong key is shown while the provider runs, until it accepts a notification")
  func refused() async throws {
    let (folder, log) = (TemporaryFolder(), MemoryLog(company()))
    let isRefusing = Mutex(true)
    let sender = ScriptedSender(queueSettings: queueSettings) { notification, _ in
      notification.token.provider == .apns && isRefusing.withLock { $0 }
        ? .possiblyWrongKey(reason: "400; check the topic", failure: "400", retryAfter: .zero) : .delivered(response: "200")
    }
    try await withPushService(folder, log, sender) { push in
      log.send(1)
      let apns = { push.status.providers.first }
      try await eventually { apns()?.reason == "refused: 400; check the topic" }
      #expect(apns()?.state == .running && push.status.providers.compactMap(\.reason).count == 1)
      isRefusing.withLock { $0 = false }
      try await eventually { apns()?.reason == nil }
      #expect(apns()?.state == .running)
    }
  }

  @Test("a pause uses up no attempts, and everything arrives after it")
  func paused() async throws {
    let (folder, log) = (TemporaryFolder(), MemoryLog(company()))
    let sender = ScriptedSender(queueSettings: queueSettings) { notification, attempt in
      notification.token.provider == .apns && attempt == 1
        ? .providerPaused(reason: "429", failure: "429", for: .milliseconds(1)) : .delivered(response: "200")
    }
    try await withPush(folder, log, sender) {
      let position = log.send(1)
      try await eventually { log.outcomes.last.map { $0.settledThrough >= position } ?? false }
      #expect(sender.sent.count == 3)
      #expect(log.outcomes.flatMap(\.outcomes).allSatisfy { $0.result == .delivered })
    }
  }

  @Test("a rejected notification is abandoned, with the beginning of the response in the log")
  func rejected() async throws {
    let (folder, log) = (TemporaryFolder(), MemoryLog(company()))
    let sender = ScriptedSender(queueSettings: queueSettings) { notification, _ in
      notification.token.provider == .apns
        ? .rejected(response: "413 " + String(repeating: "x", count: 100)) : .delivered(response: "200")
    }
    try await withPush(folder, log, sender) {
      let position = log.send(1)
      try await eventually { log.outcomes.last.map { $0.settledThrough >= position } ?? false }
      #expect(
        log.outcomes.flatMap(\.outcomes).filter { $0.result != .delivered } == [
          PushOutcome(
            position: position, user: ben, device: bensPhone, result: .abandoned, reason: .rejected,
            response: "413 " + String(repeating: "x", count: 60))
        ])
      let next = log.send(2)
      try await eventually { log.outcomes.last.map { $0.settledThrough >= next } ?? false }
      #expect(sender.sent.count { $0.key.device == bensPhone } == 2, "the next is sent")
    }
  }

  @Test("a notification that expires while it waits to be sent again shows the last response")
  func expired() async throws {
    let (folder, log) = (TemporaryFolder(), MemoryLog(company()))
    let now = Mutex(Script.time(LogPosition(1000)))
    let sender = ScriptedSender(queueSettings: queueSettings) { notification, _ in
      guard notification.token.provider == .apns else { return .delivered(response: "200") }
      now.withLock { $0 = $0.adding(milliseconds: RetryPolicy.lifetimeMilliseconds) }
      return .failed(reason: "500 " + String(repeating: "x", count: 100))
    }
    try await withPush(folder, log, sender, now: { now.withLock { $0 } }) {
      let position = log.send(1)
      try await eventually { log.outcomes.flatMap(\.outcomes).contains { $0.reason == .expired } }
      try await eventually { log.outcomes.last.map { $0.settledThrough >= position } ?? false }
      #expect(
        log.outcomes.flatMap(\.outcomes).filter { $0.device == bensPhone } == [
          PushOutcome(
            position: position, user: ben, device: bensPhone, result: .abandoned, reason: .expired,
            response: "500 " + String(repeating: "x", count: 60))
        ])
    }
  }

  @Test(
    "the response of an expired notification is what the provider responded to it, without advice",
    arguments: [
      SendResult.possiblyWrongKey(reason: "400; check the topic", failure: "400", retryAfter: .zero),
      .keyRefused(reason: "APNs responded with 400; check the topic", failure: "400", retryAfter: .zero),
      .providerPaused(reason: "APNs responded with 400; check the clock", failure: "400", for: .zero),
      .providerPaused(reason: "the token service responded with 500", failure: nil, for: .zero),
    ])
  func expiredWithoutAdvice(result: SendResult) async throws {
    let (folder, log) = (TemporaryFolder(), MemoryLog(company()))
    let now = Mutex(Script.time(LogPosition(1000)))
    let sender = ScriptedSender(queueSettings: queueSettings) { notification, _ in
      guard notification.token.provider == .apns else { return .delivered(response: "200") }
      now.withLock { $0 = $0.adding(milliseconds: RetryPolicy.lifetimeMilliseconds) }
      return result
    }
    try await withPush(folder, log, sender, now: { now.withLock { $0 } }) {
      log.send(1)
      let expired = { log.outcomes.flatMap(\.outcomes).filter { $0.device == bensPhone && $0.reason == .expired } }
      try await eventually { !expired().isEmpty }
      if case .providerPaused(_, nil, _) = result {
        #expect(expired().map(\.response) == [nil])
      } else {
        #expect(expired().map(\.response) == ["400"])
      }
    }
  }

  @Test("a notification is not sent again before Retry-After")
  func retryAfter() async throws {
    let (folder, log) = (TemporaryFolder(), MemoryLog(company()))
    let sender = ScriptedSender(queueSettings: queueSettings) { notification, attempt in
      notification.token.provider == .apns && attempt == 1
        ? .failed(reason: "429", retryAfter: .seconds(1000)) : .delivered(response: "200")
    }
    try await withPush(folder, log, sender) {
      let (first, second) = (log.send(1), log.send(2))
      try await eventually {
        log.outcomes.contains { $0.outcomes.contains { $0.position == second && $0.device == carlasPhone } }
      }
      // The first retry would come after a quarter of a second.
      try await Task.sleep(for: .milliseconds(400))
      #expect(sender.sent.filter { $0.key.device == bensPhone }.map(\.key.position) == [first])
    }
  }

  @Test("a notification that was held uses up no attempts")
  func held() async throws {
    let (folder, log) = (TemporaryFolder(), MemoryLog(company()))
    let sender = ScriptedSender(queueSettings: queueSettings) { notification, attempt in
      notification.token.provider == .apns && attempt <= RetryPolicy.attempts
        ? .held(reason: "a pause", for: .milliseconds(1)) : .delivered(response: "200")
    }
    try await withPush(folder, log, sender) {
      let position = log.send(1)
      try await eventually { log.outcomes.last.map { $0.settledThrough >= position } ?? false }
      #expect(log.outcomes.flatMap(\.outcomes).allSatisfy { $0.result == .delivered })
      #expect(sender.sent.count { $0.key.device == bensPhone } == RetryPolicy.attempts + 1)
    }
  }

  @Test("a device that changes its provider is notified through the new one, but not while that is stopped")
  func changedProvider() async throws {
    let (folder, log) = (TemporaryFolder(), MemoryLog(company()))
    let sender = ScriptedSender(queueSettings: queueSettings) { notification, attempt in
      if notification.token.provider == .fcm { return .providerStopped(reason: "wrong key", failure: "403") }
      if attempt == 1 {
        log.append(.user(ben, .devices(.updated(bensPhone, .fcm("b2")))), by: ben)
        return .failed(reason: "busy")
      }
      return .delivered(response: "200")
    }
    try await withPushService(folder, log, sender) { push in
      log.send(1)
      try await eventually { push.status.providers.contains { $0.name == "fcm" && $0.state == .stopped } }
      try await eventually { sender.sent.contains { $0.key.device == bensPhone } }
      try await Task.sleep(for: .milliseconds(600))
      #expect(sender.sent.count { $0.token.token == "b2" } <= 1)
      #expect(push.status.providers.first { $0.name == "apns" }?.state == .running)
    }
  }
}
