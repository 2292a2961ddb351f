import ChatDomain
import ChatPrimitives
import ChatService
import EventStore
import Testing

/// The model test checks that every change wakes the streams of those whom it concerns.
@Suite("The feed of live streams")
struct LiveFeedTests {
  private static let timeout = Duration.seconds(60)

  private func room(_ fixture: ServiceFixture, _ owner: UserID) async throws -> RoomID {
    let creation = RoomCreation(kind: .group, name: "tea", creator: owner)
    _ = try await fixture.chat.performRoom(fixed(40), .lifecycle(.create(creation)), by: Principal(user: owner))
    return fixed(40)
  }

  private func rename(_ fixture: ServiceFixture, _ user: UserID) async throws -> ChatOutcome {
    try await fixture.chat.changeProfile(ProfileEdit(nickname: "bob"), by: Principal(user: user), command: nil)
  }

  /// The ending of a subscription, after any other signals.
  private func ending(of subscription: LiveSubscription) async throws -> StreamEnding? {
    while let signal = try await subscription.next(timeout: Self.timeout) {
      if case .ended(let ending) = signal { return ending }
    }
    return nil
  }

  @Test("a message wakes the streams of its room's members, with its position")
  func message() async throws {
    let fixture = try await ServiceFixture()
    let (alice, bob) = (try await fixture.user(1), try await fixture.user(2))
    let room = try await room(fixture, alice)
    _ = try await fixture.chat.performRoom(room, .members(.add(bob)), by: Principal(user: alice))
    let readers = try [alice, alice, bob].map { try fixture.chat.live.subscribe(LivePermission(user: $0)) }
    let sent = try await fixture.send("hello", 50, to: room, by: alice)
    for reader in readers {
      #expect(position(of: try await reader.next(timeout: Self.timeout)) == sent.stamp.position)
    }
    try fixture.close()
  }

  /// Up to where something happened.
  private func position(of signal: LiveSignal?) -> LogPosition? {
    switch signal {
    case .changed(let through): through
    case .supplied(let pages): pages.last?.through
    default: nil
    }
  }

  @Test("signals that nobody took become one, with the newest position")
  func coalescing() async throws {
    let fixture = try await ServiceFixture()
    let alice = try await fixture.user(1)
    let room = try await room(fixture, alice)
    let reader = try fixture.chat.live.subscribe(LivePermission(user: alice))
    var last = LogPosition.origin
    for number in 50..<60 { last = try await fixture.send("hello", UInt64(number), to: room, by: alice).stamp.position }
    var seen = LogPosition.origin
    while seen < last, let through = position(of: try await reader.next(timeout: Self.timeout)) {
      #expect(through > seen)
      seen = through
    }
    #expect(seen == last)
    #expect(try await reader.next(timeout: .zero) == nil)
    try fixture.close()
  }

  @Test("a stream ends with its session or its account, and none is opened afterwards")
  func revocation() async throws {
    let fixture = try await ServiceFixture()
    let alice = try await fixture.user(1)
    let (session, other) = (fixed(70) as SessionID, fixed(71) as SessionID)
    for id in [session, other] {
      _ = try await fixture.chat.startSession(
        .given(id), device: nil, by: Principal(user: alice, service: ServiceFixture.service))
    }
    let live = fixture.chat.live
    let first = try live.subscribe(LivePermission(user: alice, session: session))
    let second = try live.subscribe(LivePermission(user: alice, session: other))
    let third = try live.subscribe(LivePermission(user: alice))
    _ = try await fixture.chat.endSession(session, by: Principal(user: alice), command: nil)
    #expect(try await ending(of: first) == .sessionEnded)
    #expect(throws: StreamRefusal.ended(.sessionEnded)) {
      try live.subscribe(LivePermission(user: alice, session: session))
    }
    #expect(second.ending == nil && third.ending == nil)
    _ = try await fixture.chat.disable(alice, by: Principal(service: ServiceFixture.service), command: nil)
    #expect(try await ending(of: second) == .accountDisabled)
    #expect(try await ending(of: third) == .accountDisabled)
    #expect(throws: StreamRefusal.ended(.accountDisabled)) { try live.subscribe(LivePermission(user: alice)) }
    #expect(live.streamCount == 0)
    try fixture.close()
  }

  @Test("a stream is told before its access token expires, can be renewed, and ends when the token has expired")
  func expiry() async throws {
    let clock = TestClock()
    let fixture = try await ServiceFixture(clock: { clock.now })
    let alice = try await fixture.user(1)
    let expiry = clock.now.adding(milliseconds: 600_000)
    let permission = LivePermission(user: alice, expiresAt: expiry)
    let (kept, left) = try (fixture.chat.live.subscribe(permission), fixture.chat.live.subscribe(permission))
    clock.set(to: expiry.adding(milliseconds: -Limits.streamExpiryNoticeSeconds * 1000))
    #expect(try await kept.next(timeout: Self.timeout) == .expiring(at: expiry))
    #expect(try await left.next(timeout: Self.timeout) == .expiring(at: expiry))
    let renewed = expiry.adding(milliseconds: 600_000)
    kept.renew(until: renewed)
    clock.set(to: expiry)
    #expect(try await left.next(timeout: Self.timeout) == .ended(.accessTokenExpired))
    #expect(kept.ending == nil)
    #expect(throws: StreamRefusal.ended(.accessTokenExpired)) { try fixture.chat.live.subscribe(permission) }
    clock.set(to: renewed)
    #expect(try await ending(of: kept) == .accessTokenExpired)
    try fixture.close()
  }

  @Test("when the server stops, every stream ends with a delay after which to resume, and none is opened")
  func shutdown() async throws {
    let fixture = try await ServiceFixture()
    let alice = try await fixture.user(1)
    let subscriptions = try (0..<8).map { _ in try fixture.chat.live.subscribe(LivePermission(user: alice)) }
    let request = SyncRequest(after: SyncPosition(fixture.chat.store.head), limit: 10)
    async let waiting = fixture.chat.changes(
      for: alice, request, waiting: 3_600, permission: LivePermission(user: alice))
    fixture.chat.live.endStreams()
    var delays: Set<Int> = []
    for subscription in subscriptions {
      guard case .shuttingDown(let delay)? = try await ending(of: subscription) else {
        Issue.record("the stream goes on")
        continue
      }
      #expect((0...Limits.streamResumeMilliseconds).contains(delay))
      delays.insert(delay)
    }
    #expect(delays.count > 1)
    #expect(try await waiting.items.isEmpty)
    #expect(throws: StreamRefusal.self) { try fixture.chat.live.subscribe(LivePermission(user: alice)) }
    try fixture.close()
  }

  @Test("a user and a device can have only so many streams; a stream that was dropped does not count")
  func limits() async throws {
    let fixture = try await ServiceFixture()
    let alice = try await fixture.user(1)
    let live = fixture.chat.live
    let onDevice = LivePermission(user: alice, device: fixed(80))
    var open = try (0..<Limits.streamsOfDevice).map { _ in try live.subscribe(onDevice) }
    #expect(throws: StreamRefusal.tooManyOfDevice) { try live.subscribe(onDevice) }
    open.removeLast()
    open.append(try live.subscribe(onDevice))
    while open.count < Limits.streamsOfUser { open.append(try live.subscribe(LivePermission(user: alice))) }
    #expect(throws: StreamRefusal.tooManyOfUser) { try live.subscribe(LivePermission(user: alice)) }
    open[0].cancel()
    open.append(try live.subscribe(LivePermission(user: alice)))
    #expect(live.streamCount == Limits.streamsOfUser)
    open = []
    #expect(live.streamCount == 0)
    try fixture.close()
  }

  @Test("a request that waits gets what changes meanwhile, and an empty page with the newest position otherwise")
  func waiting() async throws {
    let fixture = try await ServiceFixture()
    let (alice, bob) = (try await fixture.user(1), try await fixture.user(2))
    let room = try await room(fixture, alice)
    let permission = LivePermission(user: alice)
    let request = SyncRequest(after: SyncPosition(fixture.chat.store.head), limit: 10)
    async let page = fixture.chat.changes(for: alice, request, waiting: 3_600, permission: permission)
    while fixture.chat.live.streamCount == 0 { await Task.yield() }
    let sent = try await fixture.send("hello", 50, to: room, by: alice)
    #expect(try await page.items.map(\.revision).max() == sent.stamp.position)
    _ = try await rename(fixture, bob)
    let later = SyncRequest(after: try await page.next, limit: 10)
    let empty = try await fixture.chat.changes(for: alice, later, waiting: 1, permission: permission)
    #expect(empty.items.isEmpty && !empty.more && empty.next == SyncPosition(fixture.chat.store.head))
    #expect(fixture.chat.live.streamCount == 0)
    try fixture.close()
  }

  @Test("a wait ends when its task is cancelled")
  func cancellation() async throws {
    let fixture = try await ServiceFixture()
    let alice = try await fixture.user(1)
    let subscription = try fixture.chat.live.subscribe(LivePermission(user: alice))
    let wait = Task { try await subscription.next(timeout: .seconds(3600)) }
    wait.cancel()
    await #expect(throws: CancellationError.self) { try await wait.value }
    let second = Task { try await subscription.next(timeout: .seconds(3600)) }
    subscription.cancel()
    await #expect(throws: CancellationError.self) { try await second.value }
    try fixture.close()
  }
}
