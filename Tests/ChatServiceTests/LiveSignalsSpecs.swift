import ChatDomain
import ChatPrimitives
import Testing

@testable import ChatService

private let (alice, bob): (UserID, UserID) = (fixed(1), fixed(2))
private let (tea, cake): (RoomID, RoomID) = (fixed(40), fixed(41))
private let later = Timestamp(milliseconds: 6_000)

@Suite("The signals of a stream")
struct LiveSignalsSpecs {
  private let signals = LiveSignals(number: 1, LivePermission(user: alice), since: .origin)

  private func next() async -> LiveSignal? {
    if case .signal(let signal) = await signals.next(timeout: .seconds(60)) { signal } else { nil }
  }

  @Test("a stream that waits for long sends a heartbeat")
  func heartbeat() async {
    async let waiting = next()
    while !signals.isWaiting { await Task.yield() }
    for _ in 0..<Limits.streamHeartbeatSeconds { signals.beat() }
    #expect(await waiting == .heartbeat)
    for _ in 1..<Limits.streamHeartbeatSeconds { signals.beat() }
    signals.change(through: LogPosition(1))
    #expect(await next() == .changed(through: LogPosition(1)))
    signals.sends()
    signals.beat()
    #expect(signals.take() == nil, "something was sent, so no heartbeat is due")
    // A change that shows this client nothing sends nothing.
    for position in 2...UInt64(Limits.streamHeartbeatSeconds) {
      signals.change(through: LogPosition(position))
      #expect(await next() == .changed(through: LogPosition(position)))
      signals.beat()
    }
    #expect(await next() == .heartbeat)
  }

  @Test("changes and notices take turns, and a filter leaves out what the client does not want")
  func turns() async {
    let presence = LiveNotice.presence(PresenceNotice(user: bob, presence: .online))
    let (here, there) = (
      TypingNotice(room: tea, user: bob, until: later), TypingNotice(room: cake, user: bob, until: nil)
    )
    signals.add(presence)
    signals.show(SyncFilter(rooms: [tea]))
    signals.change(through: LogPosition(1))
    for notice in [presence, .typing(here), .typing(there)] { signals.add(notice) }
    #expect(await next() == .changed(through: LogPosition(1)))
    signals.change(through: LogPosition(2))
    #expect(await next() == .notices([presence, .typing(here)]))
    #expect(await next() == .changed(through: LogPosition(2)))
    signals.show(SyncFilter(notices: [.typing]))
    for notice in [presence, .typing(there)] { signals.add(notice) }
    #expect(await next() == .notices([.typing(there)]))
    #expect(!signals.isWaiting)
  }

  @Test("pages are supplied until the stream has to read something")
  func pages() async {
    func content(_ position: UInt64) -> LiveContent {
      LiveContent(items: [SyncItem(revision: LogPosition(position), content: .removed(.room(tea)))], profiles: [:])
    }
    func page(_ after: UInt64, _ through: UInt64) -> LivePage {
      LivePage(after: LogPosition(after), through: LogPosition(through), content: content(through))
    }
    func change(_ position: UInt64, isSupplied: Bool = true) {
      signals.change(through: LogPosition(position), isSupplied ? content(position) : nil)
    }
    change(3)
    change(3, isSupplied: false)
    change(5)
    #expect(await next() == .supplied([page(0, 3), page(3, 5)]))
    change(6)
    change(7, isSupplied: false)
    change(8)
    #expect(await next() == .changed(through: LogPosition(8)), "what was not supplied is before 8")
    change(9)
    #expect(await next() == .supplied([page(8, 9)]))
    for position in 10...UInt64(10 + Limits.livePagesOfStream) { change(position) }
    #expect(await next() == .changed(through: LogPosition(UInt64(10 + Limits.livePagesOfStream))), "too many pages")
  }
}
