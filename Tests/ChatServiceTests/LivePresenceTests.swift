import ChatDomain
import ChatPrimitives
import EventStore
import Synchronization
import Testing

@testable import ChatService

/// The specs of `Ephemera` have the times.
@Suite("Typing, presence and open rooms over a service")
struct LivePresenceTests {
  private static let timeout = Duration.seconds(60)

  /// Alice, Bob and Carol in a room, and Dave outside of it.
  private final class Company: Sendable {
    let fixture: ServiceFixture
    let clock = TestClock()
    let (alice, bob, carol, dave): (UserID, UserID, UserID, UserID) = (fixed(1), fixed(2), fixed(3), fixed(4))
    let room: RoomID = fixed(40)

    var chat: ChatService { fixture.chat }

    init() async throws {
      fixture = try await ServiceFixture(clock: { [clock] in clock.now })
      for number: UInt64 in 1...4 { _ = try await fixture.user(number) }
      _ = try await chat.performRoom(
        room, .lifecycle(.create(RoomCreation(kind: .group, name: "tea", creator: alice))), by: Principal(user: alice))
      for user in [bob, carol] {
        _ = try await chat.performRoom(room, .members(.add(user)), by: Principal(user: alice))
      }
    }

    func stream(
      _ user: UserID, session: SessionID? = nil, device: DeviceID? = nil, _ filter: SyncFilter = SyncFilter()
    ) throws -> LiveSubscription {
      let permission = LivePermission(user: user, session: session, device: device)
      let subscription = try chat.live.subscribe(permission)
      subscription.show(filter)
      return subscription
    }

    func set(_ edit: PreferencesEdit, of user: UserID) async throws {
      _ = try await chat.setPreferences(edit, by: Principal(user: user), command: nil)
    }

    /// Lets a user type, in a cycle of its own. So everything that was to be shown before has been shown before.
    func mark(_ user: UserID) async throws {
      while chat.live.hasNews { await Task.yield() }
      try await chat.setTyping(true, in: room, by: user)
      while chat.live.hasNews { await Task.yield() }
    }

    func pass(seconds: Int64) { clock.set(to: clock.now.adding(milliseconds: seconds * 1000)) }
  }

  /// The notices of a stream, up to and with the first that fits.
  private func notices(
    of stream: LiveSubscription, until isLast: (LiveNotice) -> Bool
  ) async throws -> [LiveNotice] {
    var seen: [LiveNotice] = []
    while let signal = try await stream.next(timeout: Self.timeout) {
      guard case .notices(let new) = signal else { continue }
      seen += new
      if new.contains(where: isLast) { return seen }
    }
    Issue.record("no such notice among \(seen)")
    return seen
  }

  private func isTyping(_ user: UserID) -> (LiveNotice) -> Bool {
    { notice in if case .typing(let notice) = notice { notice.user == user && notice.until != nil } else { false } }
  }

  private func presence(_ user: UserID, _ presence: Presence) -> LiveNotice {
    .presence(PresenceNotice(user: user, presence: presence))
  }

  @Test("members see who types until a message comes; others, the typist and filtered streams do not")
  func typing() async throws {
    let company = try await Company()
    let streams = try [company.bob, company.alice, company.dave].map { try company.stream($0) }
    let elsewhere = try company.stream(company.bob, SyncFilter(rooms: [fixed(41)]))
    try await company.chat.setTyping(true, in: company.room, by: company.alice)
    let until = company.clock.now.adding(milliseconds: Limits.typingSeconds * 1000)
    let seen = try await notices(of: streams[0], until: isTyping(company.alice))
    #expect(seen.last == .typing(TypingNotice(room: company.room, user: company.alice, until: until)))
    _ = try await company.fixture.send("hello", 50, to: company.room, by: company.alice)
    let ended = LiveNotice.typing(TypingNotice(room: company.room, user: company.alice, until: nil))
    _ = try await notices(of: streams[0]) { $0 == ended }
    try await company.mark(company.carol)
    #expect(
      try await notices(of: streams[1], until: isTyping(company.carol)).filter { isTyping(company.alice)($0) } == [])
    for stream in [streams[2], elsewhere] {
      #expect(stream.signals.takeNotices().allSatisfy { if case .presence = $0 { true } else { false } })
    }
    try company.fixture.close()
  }

  @Test("typing is refused like a message")
  func refusals() async throws {
    let company = try await Company()
    let (chat, room, alice, bob) = (company.chat, company.room, company.alice, company.bob)
    func refusal(_ user: UserID, in room: RoomID) async -> Rejection? {
      await rejection { try await chat.setTyping(true, in: room, by: user) }
    }
    #expect(await refusal(bob, in: room) == nil)
    #expect(await refusal(company.dave, in: room) == .roomNotFound)
    #expect(await refusal(alice, in: fixed(99)) == .roomNotFound)
    let direct: RoomID = fixed(42)
    _ = try await chat.performRoom(
      direct, .lifecycle(.create(RoomCreation(kind: .direct, name: "", creator: alice, participants: [alice, bob]))),
      by: Principal(user: alice))
    #expect(await refusal(bob, in: direct) == nil)
    try await company.set(PreferencesEdit(acceptsDirectMessages: false), of: alice)
    #expect(await refusal(bob, in: direct) == .directMessagesRefused)
    #expect(await refusal(alice, in: direct) == .directMessagesRefused)
    try await company.set(PreferencesEdit(acceptsDirectMessages: true), of: alice)
    _ = try await chat.block(alice, by: Principal(user: bob), command: nil)
    #expect(await refusal(bob, in: direct) == .directMessagesRefused)
    #expect(await refusal(alice, in: direct) == .directMessagesRefused)
    #expect(await refusal(bob, in: room) == nil)
    _ = try await chat.performRoom(
      room, .members(.silence(bob, until: company.clock.now.adding(milliseconds: 60_000))), by: Principal(user: alice))
    #expect(await refusal(bob, in: room) == .memberSilenced)
    _ = try await chat.performRoom(room, .lifecycle(.archive), by: Principal(user: alice))
    #expect(await refusal(bob, in: room) == .memberSilenced)
    #expect(await refusal(alice, in: room) == .roomArchived)
    try company.fixture.close()
  }

  @Test("neither a block nor a hidden presence lets typing through, in either direction")
  func hiddenTyping() async throws {
    let company = try await Company()
    _ = try await company.chat.block(company.bob, by: Principal(user: company.alice), command: nil)
    let (alices, bobs) = (try company.stream(company.alice), try company.stream(company.bob))
    try await company.set(PreferencesEdit(sharesPresence: false), of: company.dave)
    _ = try await company.chat.performRoom(
      company.room, .members(.add(company.dave)), by: Principal(user: company.alice))
    for user in [company.alice, company.bob, company.dave, company.carol] { try await company.mark(user) }
    for stream in [alices, bobs] {
      let seen = try await notices(of: stream, until: isTyping(company.carol))
      let typists = seen.compactMap { if case .typing(let notice) = $0 { notice.user } else { nil } }
      #expect(typists == [company.carol])
    }
    try company.fixture.close()
  }

  @Test("members see who comes, is away and goes; a new stream is told who is there")
  func presence() async throws {
    let company = try await Company()
    let bobs = try company.stream(company.bob)
    let dave = try company.stream(company.dave)
    let session: SessionID = fixed(70)
    var alices: LiveSubscription? = try company.stream(company.alice, session: session)
    #expect(try await notices(of: bobs) { $0 == presence(company.alice, .online) }.count == 1)
    #expect(
      try await notices(of: try company.stream(company.bob)) { $0 == presence(company.alice, .online) }.count == 1)
    company.pass(seconds: 20)
    #expect(company.chat.setPresence(.away, of: company.alice, session: session))
    #expect(!company.chat.setPresence(.away, of: company.alice, session: fixed(71)))
    #expect(try await notices(of: bobs) { $0 == presence(company.alice, .away) }.count == 1)
    alices?.cancel()
    alices = nil
    try await company.mark(company.carol)
    _ = try await notices(of: bobs, until: isTyping(company.carol))
    company.pass(seconds: 30)
    #expect(try await notices(of: bobs) { $0 == presence(company.alice, .offline) }.count == 1)
    #expect(dave.signals.takeNotices().isEmpty)
    #expect(!company.chat.setPresence(.online, of: company.alice, session: session))
    try company.fixture.close()
  }

  @Test("a user who is blocked, and everyone if the presence is hidden, sees the user as offline")
  func hiddenPresence() async throws {
    let company = try await Company()
    let (bobs, carols) = (try company.stream(company.bob), try company.stream(company.carol))
    let alices = try company.stream(company.alice)
    for stream in [bobs, carols] { _ = try await notices(of: stream) { $0 == presence(company.alice, .online) } }
    _ = try await company.chat.block(company.bob, by: Principal(user: company.alice), command: nil)
    _ = try await notices(of: bobs) { $0 == presence(company.alice, .offline) }
    company.pass(seconds: 20)
    alices.set(.away)
    _ = try await notices(of: carols) { $0 == presence(company.alice, .away) }
    try await company.set(PreferencesEdit(sharesPresence: false), of: company.alice)
    _ = try await notices(of: carols) { $0 == presence(company.alice, .offline) }
    company.pass(seconds: 20)
    alices.set(.online)
    let newer = try company.stream(company.carol)
    try await company.mark(company.bob)
    let seen = try await notices(of: newer, until: isTyping(company.bob))
    #expect(!seen.contains { if case .presence(let notice) = $0 { notice.user == company.alice } else { false } })
    #expect(
      !bobs.signals.takeNotices().contains {
        if case .presence(let notice) = $0 { notice.user == company.alice } else { false }
      })
    try company.fixture.close()
  }

  @Test("users see each other as soon as they share a room, and after an unblock")
  func meetings() async throws {
    let company = try await Company()
    let (chat, alice, dave) = (company.chat, company.alice, company.dave)
    let (alices, daves) = (try company.stream(alice), try company.stream(dave))
    let bobs = try company.stream(company.bob)
    _ = try await notices(of: alices) { $0 == presence(company.bob, .online) }
    try await company.mark(company.carol)
    _ = try await notices(of: bobs, until: isTyping(company.carol))
    #expect(daves.signals.takeNotices().isEmpty)
    _ = try await chat.performRoom(company.room, .members(.add(dave)), by: Principal(user: alice))
    _ = try await notices(of: alices) { $0 == presence(dave, .online) }
    let seen = try await notices(of: daves) { $0 == presence(alice, .online) }
    #expect(seen.contains(presence(company.bob, .online)))
    _ = try await chat.block(dave, by: Principal(user: alice), command: nil)
    _ = try await notices(of: daves) { $0 == presence(alice, .offline) }
    _ = try await chat.block(alice, by: Principal(user: company.bob), command: nil)
    _ = try await notices(of: alices) { $0 == presence(company.bob, .offline) }
    _ = try await chat.unblock(dave, by: Principal(user: alice), command: nil)
    _ = try await notices(of: daves) { $0 == presence(alice, .online) }
    // Nobody sees a user who blocks them, in a new room either.
    let cake: RoomID = fixed(43)
    _ = try await chat.performRoom(
      cake, .lifecycle(.create(RoomCreation(kind: .group, name: "cake", creator: alice))), by: Principal(user: alice))
    _ = try await chat.performRoom(cake, .members(.add(company.bob)), by: Principal(user: alice))
    _ = try await notices(of: bobs) { $0 == presence(alice, .online) }
    company.pass(seconds: Limits.typingSeconds)
    try await company.mark(company.carol)
    let last = try await notices(of: alices, until: isTyping(company.carol))
    #expect(!last.contains(presence(company.bob, .online)))
    try company.fixture.close()
  }

  @Test("a stream that opens soon after another user's last one ended sees that user online")
  func grace() async throws {
    let company = try await Company()
    let bobs = try company.stream(company.bob)
    var alices: LiveSubscription? = try company.stream(company.alice)
    _ = try await notices(of: bobs) { $0 == presence(company.alice, .online) }
    alices?.cancel()
    alices = nil
    for user in [company.carol, company.dave] {
      if user == company.dave {
        _ = try await company.chat.performRoom(
          company.room, .members(.add(user)), by: Principal(user: company.alice))
      }
      _ = try await notices(of: try company.stream(user)) { $0 == presence(company.alice, .online) }
    }
    company.pass(seconds: 30)
    _ = try await notices(of: bobs) { $0 == presence(company.alice, .offline) }
    let late = try company.stream(company.carol)
    try await company.mark(company.bob)
    #expect(try await !notices(of: late, until: isTyping(company.bob)).contains(presence(company.alice, .online)))
    try company.fixture.close()
  }

  @Test("the same holds if others see that the user is online only after the last stream ended")
  func graceUnseen() async throws {
    let company = try await Company()
    let bobs = try company.stream(company.bob)
    let first = try company.stream(company.alice)
    _ = try await notices(of: bobs) { $0 == presence(company.alice, .online) }
    first.cancel()
    try await company.mark(company.carol)
    _ = try await notices(of: bobs, until: isTyping(company.carol))
    company.pass(seconds: Limits.presenceGraceSeconds)
    _ = try await notices(of: bobs) { $0 == presence(company.alice, .offline) }
    let alices = try company.stream(company.alice)
    try await company.mark(company.carol)
    let seen = try await notices(of: bobs, until: isTyping(company.carol))
    alices.cancel()
    try await company.mark(company.bob)
    #expect(!seen.contains(presence(company.alice, .online)), "too soon after the last one")
    company.pass(seconds: Limits.presenceIntervalSeconds)
    _ = try await notices(of: bobs) { $0 == presence(company.alice, .online) }
    _ = try await notices(of: try company.stream(company.carol)) { $0 == presence(company.alice, .online) }
    try company.fixture.close()
  }

  @Test("a room is open on a device until its last stream ends or another list comes")
  func openRooms() async throws {
    let company = try await Company()
    let (device, other): (DeviceID, DeviceID) = (fixed(80), fixed(81))
    let (chat, alice, room) = (company.chat, company.alice, company.room)
    #expect(!chat.setOpenRooms([room], on: device, of: alice), "the device has no stream")
    let streams = try [company.stream(alice, device: device), company.stream(alice, device: device)]
    let polling = try chat.live.subscribe(LivePermission(user: alice, device: other))
    #expect(!chat.setOpenRooms([room], on: other, of: alice), "a request that waits is no stream")
    #expect(chat.setOpenRooms([room], on: device, of: alice))
    #expect(chat.live.isOpen(room, device, of: alice) && !chat.live.isOpen(fixed(41), device, of: alice))
    #expect(!chat.live.isOpen(room, other, of: alice) && !chat.live.isOpen(room, device, of: company.bob))
    streams[0].cancel()
    #expect(chat.live.isOpen(room, device, of: alice))
    streams[1].setOpenRooms([fixed(41)])
    #expect(!chat.live.isOpen(room, device, of: alice) && chat.live.isOpen(fixed(41), device, of: alice))
    streams[1].cancel()
    #expect(!chat.live.isOpen(fixed(41), device, of: alice))
    polling.cancel()
    try company.fixture.close()
  }

  @Test("a stream gives its transport the notices, and what changed")
  func frames() async throws {
    let company = try await Company()
    let subscription = try company.chat.live.subscribe(LivePermission(user: company.bob))
    let request = SyncRequest(after: SyncPosition(company.chat.store.head), limit: 10)
    var stream = LiveStream(company.chat, for: company.bob, request, subscription)
    try await company.mark(company.alice)
    guard case .typing(let notice) = try await stream.next() else { return #expect(Bool(false), "no typing") }
    #expect(notice.user == company.alice && notice.until != nil)
    _ = try await company.fixture.send("hello", 50, to: company.room, by: company.alice)
    var (sawPage, sawEnd) = (false, false)
    while !sawPage || !sawEnd {
      switch try await stream.next() {
      case .page: sawPage = true
      case .typing(let notice): sawEnd = notice.until == nil
      case .presence, .expiring, .heartbeat: break
      case .ended: return #expect(Bool(false), "ended")
      }
    }
    try company.fixture.close()
  }
}
