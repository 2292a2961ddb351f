import ChatDomain
import ChatPrimitives
import ChatPush
import Foundation
import Testing

/// An event, and Ben with one device, who is notified of it until a reason is made to apply.
private struct Situation {
  var event: PushEvent
  var context = FanOut.RoomContext()
  var recipient = FanOut.Recipient(
    user: ben, membership: .member(FanOut.Member()),
    devices: [FanOut.Device(id: bensPhone, token: PushToken(provider: .apns, token: "b"))])

  init(_ change: PushEvent.Change, by actor: UserID = anna, roomChanges: Bool = false) {
    event = PushEvent(position: LogPosition(9), time: Timestamp(milliseconds: 1000), actor: actor, change: change)
    recipient.devices[0].roomChanges = roomChanges
  }

  var decision: FanOut.Decision? { FanOut.decisions(on: event, in: context, for: [recipient]).first?.decision }

  func with(_ reasons: some BidirectionalCollection<FanOut.SkipReason>) -> Situation {
    var changed = self
    // The last one first, because a user who left is no member who could have muted the room.
    for reason in reasons.reversed() { changed.apply(reason) }
    return changed
  }

  private mutating func apply(_ reason: FanOut.SkipReason) {
    switch reason {
    case .imported: event.originalTime = event.time
    case .erased: changeMessage { $0.content = nil }
    case .ownDevice: event.device = bensPhone
    case .beforeJoin: recipient.membership = .joinsLater
    case .left: recipient.membership = .left(at: LogPosition(8))
    case .blocked: recipient.hasBlockedActor = true
    case .silentEvent:
      let part = CustomPart(type: "position", body: "{}", isSilent: true)
      changeMessage { $0.content = MessageContent(text: "", details: MessageDetails(custom: part)) }
    case .accountDisabled: recipient.isDisabled = true
    case .mutedRoom: changeMember { $0.mutedUntil = Timestamp(milliseconds: 1001) }
    case .notFollowing: changeMessage { $0.thread = ThreadRoot(message: .numbered(4), ordinal: 2) }
    case .kindMuted: recipient.preferences.mutedKinds = AlertKinds(AlertKind.allCases)
    case .nothingToClear: changeMember { $0.readThrough = 5 }
    case .notificationsOff: recipient.preferences.notifications = .none
    case .mentionsOnly: recipient.preferences.notifications = .mentions
    case .roomChangesOff: recipient.devices[0].roomChanges = false
    case .crowdedRoom: (event.isFrequent, context.leavesOutChanges) = (true, true)
    case .noToken: recipient.devices[0].token = nil
    }
  }

  private mutating func changeMember(_ change: (inout FanOut.Member) -> Void) {
    guard case .member(var member) = recipient.membership else { return }
    change(&member)
    recipient.membership = .member(member)
  }

  private mutating func changeMessage(_ change: (inout PushEvent.Message) -> Void) {
    guard case .message(let room, var message) = event.change else { return }
    change(&message)
    event.change = .message(room, message)
  }
}

/// If several reasons apply to a device, the first in the order of the table in docs/push.md is given.
@Suite struct ReasonOrderSpecs {
  private static let message = PushEvent.Change.message(
    tea, PushEvent.Message(id: .numbered(5), content: MessageContent(text: "hello")))

  /// Reasons that can apply together, in the documented order.
  private static let chains: [(Situation, [FanOut.SkipReason])] = [
    (
      Situation(message),
      [
        .imported, .left, .blocked, .silentEvent, .accountDisabled, .mutedRoom, .notFollowing, .kindMuted,
        .notificationsOff, .noToken,
      ]
    ),
    (Situation(message), [.imported, .erased, .beforeJoin, .blocked, .mutedRoom, .mentionsOnly, .noToken]),
    (Situation(message, by: ben), [.imported, .erased, .ownDevice, .beforeJoin, .accountDisabled, .noToken]),
    (
      Situation(.deletion(tea, .numbered(5), at: .room(5))),
      [.imported, .left, .accountDisabled, .nothingToClear, .noToken]
    ),
    (
      Situation(.room(tea, nil), roomChanges: true),
      [.imported, .left, .blocked, .accountDisabled, .roomChangesOff, .crowdedRoom, .noToken]
    ),
  ]

  /// Neighbours in the table of which only one can apply to a kind.
  private static let exclusive: [[FanOut.SkipReason]] = [
    [.beforeJoin, .left], [.kindMuted, .nothingToClear], [.nothingToClear, .notificationsOff],
    [.notificationsOff, .mentionsOnly], [.mentionsOnly, .roomChangesOff],
  ]

  @Test("of the reasons that apply, the first in the documented order is given")
  func first() {
    for (situation, reasons) in Self.chains {
      guard case .notify = situation.decision else {
        Issue.record("\(situation.event.change) does not notify")
        continue
      }
      for start in reasons.indices {
        #expect(situation.with([reasons[start]]).decision == .skip(reasons[start]))
        #expect(situation.with(reasons[start...]).decision == .skip(reasons[start]))
      }
    }
  }

  @Test("the test has each two neighbours of the documented table that can apply together")
  func complete() throws {
    let page = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../docs/push.md")
    let lines = try String(contentsOf: page, encoding: .utf8).split(separator: "\n", omittingEmptySubsequences: false)
    let heading = try #require(lines.firstIndex(of: "| reason | meaning |"))
    let documented = lines[(heading + 2)...].prefix { $0.hasPrefix("|") }.map { String($0.split(separator: "`")[1]) }
    #expect(documented == FanOut.SkipReason.allCases.map(\.rawValue))
    func neighbours(_ reasons: [FanOut.SkipReason]) -> [[FanOut.SkipReason]] {
      zip(reasons, reasons.dropFirst()).map { [$0, $1] }
    }
    let tested = Set(Self.chains.flatMap { neighbours($0.1) } + Self.exclusive)
    #expect(neighbours(FanOut.SkipReason.allCases).filter { !tested.contains($0) } == [])
  }

  @Test("neighbours that count as exclusive cannot apply together", arguments: Self.exclusive)
  func exclude(pair: [FanOut.SkipReason]) {
    for (situation, _) in Self.chains {
      let applyAlone = pair.allSatisfy { situation.with([$0]).decision == .skip($0) }
      // If one undoes the other, such as two levels, the order in which they are made to apply matters.
      let areIndependent = situation.with(pair).decision == situation.with(pair.reversed()).decision
      #expect(!(applyAlone && areIndependent), "\(situation.event.change)")
    }
  }

  @Test("a device that gets neither of two kinds gets the reason for the first one")
  func twoKinds() {
    let cases: [(PushEvent.Change, [FanOut.SkipReason])] = [
      (
        .reaction(tea, .numbered(5), emoji: "👍", messageAuthor: ben),
        [.mutedRoom, .kindMuted, .notificationsOff, .mentionsOnly, .noToken]
      ),
      (.added(tea, ben), [.kindMuted, .notificationsOff, .noToken]),
      (.deletion(tea, .numbered(5), at: .room(5)), [.nothingToClear, .noToken]),
    ]
    for (change, reasons) in cases {
      for reason in reasons {
        #expect(Situation(change).with([reason]).decision == .skip(reason))
        let crowded = Situation(change, roomChanges: true).with([reason, .crowdedRoom])
        #expect(crowded.decision == .skip(reason))
      }
    }
  }
}
