import ChatDomain
import ChatPrimitives
import ChatPush
import Testing

/// Given the members of a room and a message, who is notified, with what badge, and why the others are not.
@Suite struct FanOutSpecs {
  private static let sent = Timestamp(milliseconds: 1000)

  private func message(
    originalTime: Timestamp? = nil, text: String? = "hello", thread: ThreadRoot? = nil, mentions: Mentions = Mentions()
  ) -> FanOut.SentMessage {
    FanOut.SentMessage(
      position: LogPosition(9), time: Self.sent, room: tea, message: .numbered(5), sender: anna,
      originalTime: originalTime, text: text, thread: thread, mentions: mentions)
  }

  private func phone(_ id: DeviceID, _ level: NotificationLevel = .all) -> FanOut.Device {
    FanOut.Device(id: id, token: PushToken(provider: .apns, token: "t-\(id)"), level: level)
  }

  private func recipient(
    _ user: UserID, _ membership: FanOut.Membership = .member(mutedUntil: nil), _ devices: [FanOut.Device]
  ) -> FanOut.Recipient {
    FanOut.Recipient(user: user, membership: membership, devices: devices)
  }

  private func decision(_ membership: FanOut.Membership) -> FanOut.Decision? {
    FanOut.decisions(on: message(), for: [recipient(ben, membership, [phone(bensPhone)])]) { _ in 4 }.first?.decision
  }

  @Test("each device of each other member is notified, with its user's badge")
  func members() {
    let decisions = FanOut.decisions(
      on: message(),
      for: [
        recipient(ben, .member(mutedUntil: nil), [phone(bensPhone), phone(bensTablet)]),
        recipient(carla, .member(mutedUntil: nil), [phone(carlasPhone)]),
      ]
    ) { $0 == ben ? 7 : 2 }
    #expect(
      decisions == [
        .init(user: ben, device: bensPhone, decision: .notify(badge: 7)),
        .init(user: ben, device: bensTablet, decision: .notify(badge: 7)),
        .init(user: carla, device: carlasPhone, decision: .notify(badge: 2)),
      ])
  }

  @Test("no device of the sender is notified")
  func sender() {
    let decisions = FanOut.decisions(
      on: message(), for: [recipient(anna, .member(mutedUntil: nil), [phone(annasPhone), phone(bensPhone)])]
    ) { _ in 1 }
    #expect(decisions.map(\.decision) == [.silent(.sendersOwn), .silent(.sendersOwn)])
  }

  @Test("a mute holds until its time and not at it")
  func muted() {
    #expect(decision(.member(mutedUntil: Self.sent.adding(milliseconds: 1))) == .silent(.mutedRoom))
    #expect(decision(.member(mutedUntil: Self.sent)) == .notify(badge: 4))
    #expect(decision(.member(mutedUntil: Self.sent.adding(milliseconds: -1))) == .notify(badge: 4))
  }

  @Test("former and later members are not notified")
  func membership() {
    #expect(decision(.left(at: LogPosition(8))) == .silent(.left))
    #expect(decision(.joinsLater) == .silent(.beforeJoin))
  }

  @Test("an imported or erased message notifies nobody")
  func imported() {
    let recipients = [
      recipient(anna, .member(mutedUntil: nil), [phone(annasPhone)]),
      recipient(ben, .left(at: LogPosition(2)), [phone(bensPhone)]),
    ]
    let imported = FanOut.decisions(on: message(originalTime: Self.sent), for: recipients) { _ in 1 }
    #expect(imported.map(\.decision) == [.silent(.imported), .silent(.imported)])
    let erased = FanOut.decisions(on: message(text: nil), for: recipients) { _ in 1 }
    #expect(erased.map(\.decision) == [.silent(.erased), .silent(.erased)])
  }

  @Test(
    "a device is notified of what its level lets through",
    arguments: [
      (Mentions(), false, .silent(.mentionsOnly)), (Mentions(users: [carla]), false, .silent(.mentionsOnly)),
      (Mentions(users: [ben]), false, .notify(badge: 4)), (Mentions(everyone: true), false, .notify(badge: 4)),
      (Mentions(), true, .notify(badge: 4)),
    ] as [(Mentions, Bool, FanOut.Decision)])
  func levels(mentions: Mentions, isDirect: Bool, expected: FanOut.Decision) {
    let devices = [phone(bensPhone, .mentions), phone(bensTablet, .none), phone(annasPhone, .all)]
    let decisions = FanOut.decisions(
      on: message(mentions: mentions), in: FanOut.RoomContext(isDirect: isDirect),
      for: [recipient(ben, .member(mutedUntil: nil), devices)]
    ) { _ in 4 }
    #expect(decisions.map(\.decision) == [expected, .silent(.notificationsOff), .notify(badge: 4)])
  }

  @Test(
    "a message in a thread notifies its followers and mentioned users",
    arguments: [
      ([], Mentions(), false, .silent(.notFollowing)), ([carla], Mentions(), false, .silent(.notFollowing)),
      ([ben], Mentions(), false, .notify(badge: 4)), ([], Mentions(users: [ben]), false, .notify(badge: 4)),
      ([], Mentions(everyone: true), false, .notify(badge: 4)), ([], Mentions(), true, .notify(badge: 4)),
    ] as [(Set<UserID>, Mentions, Bool, FanOut.Decision)])
  func threads(followers: Set<UserID>, mentions: Mentions, isDirect: Bool, expected: FanOut.Decision) {
    let root = ThreadRoot(message: .numbered(4), ordinal: 2)
    let decisions = FanOut.decisions(
      on: message(thread: root, mentions: mentions), in: FanOut.RoomContext(isDirect: isDirect, followers: followers),
      for: [recipient(ben, .member(mutedUntil: nil), [phone(bensPhone)])]
    ) { _ in 4 }
    #expect(decisions.map(\.decision) == [expected])
  }

  @Test("a disabled user is not notified, and a mute also applies to mentions")
  func disabled() {
    func decision(_ recipient: FanOut.Recipient) -> FanOut.Decision? {
      FanOut.decisions(on: message(mentions: Mentions(users: [ben])), for: [recipient]) { _ in 4 }.first?.decision
    }
    let until = Self.sent.adding(milliseconds: 1)
    #expect(
      decision(
        FanOut.Recipient(
          user: ben, membership: .member(mutedUntil: until), isDisabled: true, devices: [phone(bensPhone)]))
        == .silent(.accountDisabled))
    #expect(decision(recipient(ben, .member(mutedUntil: until), [phone(bensPhone)])) == .silent(.mutedRoom))
  }

  @Test("a user who has blocked the sender is not notified, even if mentioned or disabled")
  func blocked() {
    let recipient = FanOut.Recipient(
      user: ben, membership: .member(mutedUntil: Self.sent.adding(milliseconds: 1)), isDisabled: true,
      hasBlockedSender: true, devices: [phone(bensPhone, .none)])
    let decisions = FanOut.decisions(on: message(mentions: Mentions(users: [ben])), for: [recipient]) { _ in 4 }
    #expect(decisions.map(\.decision) == [.silent(.blocked)])
    let left = FanOut.Recipient(
      user: ben, membership: .left(at: LogPosition(8)), hasBlockedSender: true, devices: [phone(bensPhone)])
    #expect(FanOut.decisions(on: message(), for: [left]) { _ in 4 }.map(\.decision) == [.silent(.left)])
  }

  @Test("a device without a token is not notified, its user's other devices are")
  func token() {
    let decisions = FanOut.decisions(
      on: message(),
      for: [recipient(ben, .member(mutedUntil: nil), [FanOut.Device(id: bensTablet, token: nil), phone(bensPhone)])]
    ) { _ in 3 }
    #expect(decisions.map(\.decision) == [.silent(.noToken), .notify(badge: 3)])
  }

  @Test("the badge is counted once for each notified user, and for nobody else")
  func badges() {
    var asked: [UserID] = []
    _ = FanOut.decisions(
      on: message(),
      for: [
        recipient(anna, .member(mutedUntil: nil), [phone(annasPhone)]),
        recipient(ben, .member(mutedUntil: nil), [phone(bensPhone), phone(bensTablet)]),
        recipient(carla, .left(at: LogPosition(1)), [phone(carlasPhone)]),
      ]
    ) { user in
      asked.append(user)
      return 1
    }
    #expect(asked == [ben])
  }
}
