import ChatDomain
import ChatPrimitives
import ChatProjections
import EventStore
import Testing

@testable import ChatService

/// What the writer knows of reports, and of what reported messages say.
@Suite("Decisions about reports")
struct ReportDecisionTests {
  private let alice: UserID = fixed(1)
  private let bob: UserID = fixed(2)
  private let room: RoomID = fixed(10)
  private let message: MessageID = fixed(100)
  private let report: ReportID = fixed(200)
  private var key: MessageKey { MessageKey(room: room, message: message) }
  private var reportKey: ReportKey { ReportKey(room: room, report: report) }

  private func stamp(_ position: UInt64) -> Stamp {
    Stamp(position: LogPosition(position), time: Timestamp(milliseconds: Int64(position)))
  }

  /// Alice's room, with a message of bob's at position 6 that only the read models have, and nothing after it.
  private func opened() -> DecisionState {
    var state = DecisionState(knownIDs: KnownIDs(KnownIDFilter(), newest: .origin), floor: .origin, retained: 0)
    func registered(_ name: String) -> UserEvent {
      .account(
        .registered(Registration(nickname: name, email: nil, externalID: name, credential: nil, commitmentKey: [])))
    }
    let events: [ChatEvent] = [
      .user(alice, registered("alice")), .user(bob, registered("bob")),
      .room(room, .lifecycle(.created(RoomCreation(kind: .group, name: "tea", creator: alice)))),
      .room(room, .members(.joined(alice, role: .owner, invite: nil))),
      .room(room, .members(.added(bob, role: .member))),
      .room(room, .messages(.sent(message, author: bob, thread: nil, .plain("first")))),
    ]
    for (index, event) in events.enumerated() { take(event, at: UInt64(index) + 1, into: &state) }
    state.forget(through: LogPosition(6))
    return state
  }

  private func take(_ event: ChatEvent, at position: UInt64, into state: inout DecisionState) {
    state.take(
      RecordedEvent(
        stamp: stamp(position), version: StreamVersion(position), actor: alice, service: nil, device: nil, command: nil,
        originalTime: nil, event: event))
  }

  /// What was looked up: the message as it was sent, and what it says.
  private func known(text: String?) -> Known {
    var known = Known()
    known.messages[key] = KnownMessage(
      author: bob, location: .room(1), sent: stamp(6), sentAt: stamp(6).time, revision: LogPosition(6),
      isDeleted: false, fingerprint: nil)
    known.contents[key] = text.map { .plain($0) }
    return known
  }

  private func reply(
    _ state: inout DecisionState, _ command: RoomCommand, _ known: Known, at next: UInt64, asOf: UInt64 = 6
  ) -> ChatReply {
    let request = ChatCommand(
      context: CommandContext(actor: alice, time: stamp(0).time), operation: .room(room, command), known: known,
      knownAsOf: LogPosition(asOf))
    return state.decide(request, next: LogPosition(next), now: stamp(next).time).reply
  }

  private var file: RoomCommand { .reports(.file(report, NewReport(.message(message), reason: .spam))) }

  /// The content that the report records, or nil in `content` if it has none.
  private func reported(_ state: inout DecisionState, _ known: Known) throws -> (content: MessageContent?, Stamp) {
    guard case .done(let outcome) = reply(&state, file, known, at: 8),
      case .room(_, .reports(.filed(_, _, let filed)))? = outcome.events.first?.event
    else { throw Unexpected() }
    return (try #require(filed?.subject.message).content, outcome.stamp)
  }

  private struct Unexpected: Error {}

  @Test("a report has what the message said when it was looked up, also if it was edited or deleted since")
  func changed() throws {
    let changes: [RoomEvent.Messages] = [
      .edited(message, at: .room(1), .plain("second")), .deleted(message, at: .room(1)),
    ]
    for change in changes {
      var state = opened()
      take(.room(room, .messages(change)), at: 7, into: &state)
      let (content, stamp) = try reported(&state, known(text: "first"))
      #expect(content == .plain("first"))
      // A repeat needs no content.
      guard case .done(let again) = reply(&state, file, known(text: nil), at: 9) else { throw Unexpected() }
      #expect(!again.isNew && again.stamp == stamp)
    }
  }

  @Test("a message that was deleted before the lookup is reported without a content; a missing one is not")
  func gone() throws {
    var state = opened()
    guard case .rejected(.messageNotFound) = reply(&state, file, Known(), at: 7) else { throw Unexpected() }
    take(.room(room, .messages(.deleted(message, at: .room(1)))), at: 7, into: &state)
    #expect(try reported(&state, known(text: nil)).content == nil)
  }

  @Test("newer writes replace what was looked up of a report, until the read model has them")
  func overlay() {
    var recent = RecentWrites(floor: .origin, retained: 0)
    var lookup = Lookup()
    lookup.report = reportKey
    func newest(_ found: KnownReport?) -> KnownReport? {
      var known = Known()
      known.reports[reportKey] = found
      return recent.newest(known, by: lookup).reports[reportKey]
    }
    let filed = KnownReport(
      reporter: alice, reportedUser: bob, filed: stamp(1), fingerprint: nil, isOpen: true, revised: stamp(1))
    var resolved = filed
    (resolved.isOpen, resolved.revised) = (false, stamp(2))
    resolved.resolution = Fingerprint(.text("a"))
    var reopened = filed
    reopened.revised = stamp(3)
    #expect(newest(nil) == nil)
    recent.enter(filed, for: reportKey)
    #expect(newest(nil) == filed)
    recent.enter(
      ReportRevision(stamp: stamp(2), isOpen: false, resolution: resolved.resolution), for: reportKey)
    #expect(newest(nil) == resolved)
    recent.forget(through: LogPosition(2))
    #expect(newest(nil) == nil && newest(resolved) == resolved)
    recent.enter(ReportRevision(stamp: stamp(3), isOpen: true, resolution: nil), for: reportKey)
    #expect(newest(resolved) == reopened && newest(reopened) == reopened)
    recent.forget(through: LogPosition(3))
    #expect(newest(resolved) == resolved)
  }
}
