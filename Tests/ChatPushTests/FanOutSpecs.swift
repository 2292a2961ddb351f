import ChatDomain
import ChatPrimitives
import ChatPush
import Testing

private let sentAt = Timestamp(milliseconds: 1000)
private let kitchen = WorkspaceID.numbered(7)

private func event(
  _ change: PushEvent.Change, by actor: UserID? = anna, on device: DeviceID? = nil, originalTime: Timestamp? = nil
) -> PushEvent {
  PushEvent(
    position: LogPosition(9), time: sentAt, originalTime: originalTime, actor: actor, device: device, change: change)
}

private func message(
  _ text: String? = "hello", thread: ThreadRoot? = nil, mentions: Mentions = Mentions(), by author: UserID = anna,
  on device: DeviceID? = nil, originalTime: Timestamp? = nil
) -> PushEvent {
  let content = text.map { MessageContent(text: $0, details: MessageDetails(mentions: mentions)) }
  return event(
    .message(tea, PushEvent.Message(id: .numbered(5), thread: thread, content: content)), by: author, on: device,
    originalTime: originalTime)
}

private func phone(
  _ id: DeviceID, _ level: NotificationLevel = .all, roomChanges: Bool = false
) -> FanOut.Device {
  FanOut.Device(
    id: id, token: PushToken(provider: .apns, token: "t-\(id)"), level: level, roomChanges: roomChanges)
}

private func recipient(
  _ user: UserID, _ membership: FanOut.Membership?, _ devices: [FanOut.Device],
  preferences: UserPreferences = UserPreferences()
) -> FanOut.Recipient {
  FanOut.Recipient(user: user, membership: membership, preferences: preferences, devices: devices)
}

/// A member of the room who has read nothing.
private func recipient(
  _ user: UserID, _ devices: [FanOut.Device], preferences: UserPreferences = UserPreferences()
) -> FanOut.Recipient {
  recipient(user, .member(FanOut.Member()), devices, preferences: preferences)
}

private func notify(_ kind: PushKind) -> FanOut.Decision {
  .notify(FanOut.Delivery(kind: kind))
}

private func decisions(
  on event: PushEvent, in context: FanOut.RoomContext = FanOut.RoomContext(), _ recipients: FanOut.Recipient...
) -> [FanOut.Decision] {
  FanOut.decisions(on: event, in: context, for: recipients).map(\.decision)
}

/// Which devices an event notifies, with which kind, and why the others are not notified.
@Suite struct FanOutSpecs {
  @Test("each device of each other member is notified")
  func members() {
    let decisions = FanOut.decisions(
      on: message(),
      for: [recipient(ben, [phone(bensPhone), phone(bensTablet)]), recipient(carla, [phone(carlasPhone)])]
    )
    #expect(
      decisions == [
        .init(user: ben, device: bensPhone, provider: .apns, decision: notify(.message)),
        .init(user: ben, device: bensTablet, provider: .apns, decision: notify(.message)),
        .init(user: carla, device: carlasPhone, provider: .apns, decision: notify(.message)),
      ])
  }

  @Test("an imported or erased message notifies nobody")
  func imported() {
    let recipients = [
      recipient(anna, [phone(annasPhone)]), recipient(ben, .left(at: LogPosition(2)), [phone(bensPhone)]),
    ]
    let cases: [(PushEvent, FanOut.SkipReason)] = [
      (message(originalTime: sentAt), .imported), (message(nil), .erased),
    ]
    for (event, reason) in cases {
      let found = FanOut.decisions(on: event, for: recipients)
      #expect(found.map(\.decision) == [.skip(reason), .skip(reason)])
    }
  }

  @Test("former and later members are not notified")
  func membership() {
    #expect(decisions(on: message(), recipient(ben, .left(at: LogPosition(8)), [phone(bensPhone)])) == [.skip(.left)])
    #expect(decisions(on: message(), recipient(ben, .joinsLater, [phone(bensPhone)])) == [.skip(.beforeJoin)])
  }

  @Test("a device without a token is not notified, but the user's other devices are")
  func token() {
    let devices = [FanOut.Device(id: bensTablet, token: nil), phone(bensPhone)]
    #expect(decisions(on: message(), recipient(ben, devices)) == [.skip(.noToken), notify(.message)])
  }
}

@Suite struct PushKindSpecs {
  private static let root = ThreadRoot(message: .numbered(4), ordinal: 2)

  @Test("the sender's other devices get a silent notification; the device that sent it gets none")
  func sent() {
    let own = recipient(anna, [phone(annasPhone), phone(bensTablet)])
    #expect(decisions(on: message(on: annasPhone), own) == [.skip(.ownDevice), notify(.sent)])
    #expect(decisions(on: message(), own) == [notify(.sent), notify(.sent)])
    // Another user may have a device with the same ID.
    let bens = recipient(ben, [phone(annasPhone)])
    #expect(decisions(on: message(on: annasPhone), bens) == [notify(.message)])
  }

  @Test(
    "the kind of a message is the first that applies: mention, reply, reminder, message",
    arguments: [
      (Mentions(), false, false, false, .message), (Mentions(users: [carla]), false, false, false, .message),
      (Mentions(users: [ben]), true, true, true, .mention), (Mentions(everyone: true), false, true, true, .mention),
      (Mentions(), false, true, true, .reply), (Mentions(), false, true, false, .reminder),
    ] as [(Mentions, Bool, Bool, Bool, PushKind)])
  func kinds(mentions: Mentions, isDirect: Bool, wasScheduled: Bool, follows: Bool, expected: PushKind) {
    let context = FanOut.RoomContext(
      isDirect: isDirect, wasScheduled: wasScheduled, followers: follows ? [ben] : [])
    let sent = message(thread: follows ? Self.root : nil, mentions: mentions)
    #expect(decisions(on: sent, in: context, recipient(ben, [phone(bensPhone)])) == [notify(expected)])
  }

  @Test("in a direct room every message is a mention")
  func direct() {
    let context = FanOut.RoomContext(isDirect: true)
    #expect(decisions(on: message(), in: context, recipient(ben, [phone(bensPhone)])) == [notify(.mention)])
  }

  @Test("a scheduled message reminds its author too, also in a thread")
  func reminder() {
    let context = FanOut.RoomContext(wasScheduled: true)
    let devices = [phone(annasPhone)]
    #expect(decisions(on: message(), in: context, recipient(anna, devices)) == [notify(.reminder)])
    let inThread = message(thread: Self.root)
    #expect(decisions(on: inThread, in: context, recipient(anna, devices)) == [notify(.reminder)])
    let muted = recipient(anna, devices, preferences: UserPreferences(mutedKinds: [.reminder]))
    #expect(decisions(on: message(), in: context, muted) == [notify(.sent)])
    #expect(
      decisions(on: inThread, in: context, recipient(ben, [phone(bensPhone)])) == [.skip(.notFollowing)])
  }

  @Test("a message in a thread notifies its followers and mentioned users")
  func threads() {
    let cases: [(Set<UserID>, Mentions, FanOut.Decision)] = [
      ([], Mentions(), .skip(.notFollowing)), ([carla], Mentions(), .skip(.notFollowing)),
      ([ben], Mentions(), notify(.reply)), ([], Mentions(users: [ben]), notify(.mention)),
      ([], Mentions(everyone: true), notify(.mention)),
    ]
    for (followers, mentions, expected) in cases {
      let found = decisions(
        on: message(thread: Self.root, mentions: mentions), in: FanOut.RoomContext(followers: followers),
        recipient(ben, [phone(bensPhone)]))
      #expect(found == [expected])
    }
  }

  @Test("a silent event alerts nobody, whatever else applies, and devices that ask get a change of the room")
  func silentEvent() {
    let part = CustomPart(type: "position", body: "{}", isSilent: true)
    for mentions in [Mentions(), Mentions(users: [ben]), Mentions(everyone: true)] {
      for thread in [nil, Self.root] {
        let content = MessageContent(text: "", details: MessageDetails(mentions: mentions, custom: part))
        let sent = event(.message(tea, PushEvent.Message(id: .numbered(5), thread: thread, content: content)), by: anna)
        for context in [
          FanOut.RoomContext(), FanOut.RoomContext(isDirect: true), FanOut.RoomContext(wasScheduled: true),
          FanOut.RoomContext(followers: [ben]),
        ] {
          let devices = [phone(bensPhone), phone(bensTablet, roomChanges: true)]
          #expect(
            decisions(on: sent, in: context, recipient(ben, devices)) == [.skip(.silentEvent), notify(.roomChange)])
          #expect(decisions(on: sent, in: context, recipient(anna, [phone(annasPhone)])) == [notify(.sent)])
        }
      }
    }
  }

  @Test("a reaction notifies the author of the message, unless it is the author's own")
  func reaction() {
    func reaction(to author: UserID?) -> PushEvent {
      event(.reaction(tea, .numbered(5), emoji: "👍", messageAuthor: author))
    }
    #expect(decisions(on: reaction(to: ben), recipient(ben, [phone(bensPhone)])) == [notify(.reaction)])
    #expect(decisions(on: reaction(to: carla), recipient(ben, [phone(bensPhone)])) == [.skip(.roomChangesOff)])
    #expect(decisions(on: reaction(to: nil), recipient(ben, [phone(bensPhone)])) == [.skip(.roomChangesOff)])
    #expect(decisions(on: reaction(to: anna), recipient(anna, [phone(annasPhone)])) == [.skip(.roomChangesOff)])
  }

  @Test("an added or invited user is notified")
  func comingIn() {
    let added = event(.added(tea, ben))
    #expect(decisions(on: added, recipient(ben, [phone(bensPhone)])) == [notify(.added)])
    #expect(decisions(on: added, recipient(carla, [phone(carlasPhone)])) == [.skip(.roomChangesOff)])
    let invited = event(.invitation(kitchen, ben))
    #expect(decisions(on: invited, recipient(ben, nil, [phone(bensPhone)])) == [notify(.invitation)])
  }

  @Test("reading updates the user's other devices")
  func reading() {
    let read = event(.reading(tea, ben, through: .numbered(3), thread: nil), by: ben, on: bensPhone)
    let bens = recipient(ben, [phone(bensPhone), phone(bensTablet)])
    #expect(decisions(on: read, bens) == [.skip(.ownDevice), notify(.update)])
  }

  @Test("a deletion updates the devices of users who had not read the message")
  func deletion() {
    let deleted = event(.deletion(tea, .numbered(5), at: .room(5)))
    let cases: [(UInt64, FanOut.Decision)] = [
      (4, notify(.update)), (5, .skip(.nothingToClear)), (6, .skip(.nothingToClear)),
    ]
    for (readThrough, expected) in cases {
      let member = FanOut.Membership.member(FanOut.Member(readThrough: readThrough))
      #expect(decisions(on: deleted, recipient(ben, member, [phone(bensPhone)])) == [expected])
    }
    let reply = event(.deletion(tea, .numbered(5), at: MessageLocation(thread: 2, ordinal: 1)))
    let context = FanOut.RoomContext(followers: [ben])
    #expect(decisions(on: reply, in: context, recipient(ben, [phone(bensPhone)])) == [notify(.update)])
    #expect(
      decisions(on: reply, in: context, recipient(carla, [phone(carlasPhone)])) == [.skip(.nothingToClear)])
    for (mentions, expected) in [
      (Mentions(users: [carla]), notify(.update)), (Mentions(everyone: true), notify(.update)),
      (Mentions(users: [ben]), .skip(.nothingToClear)),
    ] {
      let context = FanOut.RoomContext(deletedMentions: mentions)
      #expect(decisions(on: reply, in: context, recipient(carla, [phone(carlasPhone)])) == [expected])
    }
  }

  @Test("a user who leaves gets an update, and no later changes of the room")
  func departure() {
    let gone = recipient(ben, .left(at: LogPosition(9)), [phone(bensPhone, roomChanges: true)])
    #expect(decisions(on: event(.departed(tea, ben)), gone) == [notify(.update)])
    #expect(decisions(on: event(.departed(tea, carla)), gone) == [.skip(.left)])
  }

  @Test("where changes are left out, frequent events lead to no `roomChange`, and all other notifications stay")
  func crowdedRoom() {
    let crowded = FanOut.RoomContext(leavesOutChanges: true)
    let devices = [phone(bensPhone, roomChanges: true), phone(bensTablet)]
    func found(_ change: PushEvent.Change, isFrequent: Bool = true) -> [FanOut.Decision] {
      var event = event(change)
      event.isFrequent = isFrequent
      return decisions(on: event, in: crowded, recipient(ben, devices))
    }
    #expect(found(.room(tea, nil)) == [.skip(.crowdedRoom), .skip(.roomChangesOff)])
    #expect(found(.room(tea, nil), isFrequent: false) == [notify(.roomChange), .skip(.roomChangesOff)])
    #expect(found(.added(tea, ben)) == [notify(.added), notify(.added)])
    #expect(found(.added(tea, carla)) == [.skip(.crowdedRoom), .skip(.roomChangesOff)])
    let reaction = PushEvent.Change.reaction(tea, .numbered(5), emoji: "👍", messageAuthor: ben)
    #expect(found(reaction) == [notify(.reaction), notify(.reaction)])
    let gone = recipient(ben, .left(at: LogPosition(9)), devices)
    var departure = event(.departed(tea, ben))
    departure.isFrequent = true
    #expect(decisions(on: departure, in: crowded, gone) == [notify(.update), notify(.update)])
  }

  @Test(
    "a device that asked for it is told of what changes in a room without a message",
    arguments: [
      .room(tea, nil), .room(tea, .numbered(5)), .added(tea, carla), .departed(tea, carla),
      .reaction(tea, .numbered(5), emoji: "👍", messageAuthor: carla), .deletion(tea, .numbered(5), at: .room(0)),
    ] as [PushEvent.Change])
  func roomChanges(change: PushEvent.Change) {
    let devices = [phone(bensPhone, .none, roomChanges: true), phone(bensTablet)]
    let found = decisions(on: event(change), recipient(ben, devices))
    #expect(found.first == notify(.roomChange))
    #expect(found.last == .skip(change.isDeletion ? .nothingToClear : .roomChangesOff))
    #expect(
      decisions(on: event(change, by: ben, on: bensPhone), recipient(ben, devices)).first == .skip(.ownDevice))
  }

  @Test("a device that gets no alert of a change gets a roomChange if it asked for changes")
  func fallback() {
    let reaction = event(.reaction(tea, .numbered(5), emoji: "👍", messageAuthor: ben))
    let preferences = UserPreferences(mutedKinds: [.reaction])
    let devices = [phone(bensPhone, roomChanges: true), phone(bensTablet)]
    #expect(
      decisions(on: reaction, recipient(ben, devices, preferences: preferences))
        == [notify(.roomChange), .skip(.kindMuted)])
    #expect(decisions(on: reaction, recipient(ben, devices)) == [notify(.reaction), notify(.reaction)])
  }
}

@Suite struct PushPreferenceSpecs {
  private func member(
    mutedUntil: Timestamp? = nil, level: NotificationLevel? = nil
  ) -> FanOut.Membership { .member(FanOut.Member(mutedUntil: mutedUntil, level: level)) }

  @Test("a mute applies before its end and not at it, also to mentions")
  func muted() {
    let cases: [(Int64, FanOut.Decision)] = [
      (1, .skip(.mutedRoom)), (0, notify(.mention)), (-1, notify(.mention)),
    ]
    for (milliseconds, expected) in cases {
      let membership = member(mutedUntil: sentAt.adding(milliseconds: milliseconds))
      let sent = message(mentions: Mentions(users: [ben]))
      #expect(decisions(on: sent, recipient(ben, membership, [phone(bensPhone)])) == [expected])
    }
  }

  @Test(
    "the level of the room counts before that of the user, and the device can only lower it",
    arguments: [
      (nil, .all, .all, .all), (nil, .mentions, .all, .mentions), (nil, NotificationLevel.none, .all, .none),
      (.all, .none, .all, .all),
      (.all, .none, .mentions, .mentions), (NotificationLevel.none, .all, .all, .none), (.mentions, .all, .none, .none),
      (.mentions, .all, .all, .mentions), (.all, .all, .none, .none),
    ] as [(NotificationLevel?, NotificationLevel, NotificationLevel, NotificationLevel)])
  func levels(
    room: NotificationLevel?, user: NotificationLevel, device: NotificationLevel, effective: NotificationLevel
  ) {
    let preferences = UserPreferences(notifications: user)
    func decision(_ mentions: Mentions) -> [FanOut.Decision] {
      decisions(
        on: message(mentions: mentions),
        recipient(ben, member(level: room), [phone(bensPhone, device)], preferences: preferences))
    }
    switch effective {
    case .all: #expect(decision(Mentions()) == [notify(.message)])
    case .mentions: #expect(decision(Mentions()) == [.skip(.mentionsOnly)])
    case .none: #expect(decision(Mentions()) == [.skip(.notificationsOff)])
    }
    let mentioned = decision(Mentions(users: [ben]))
    #expect(mentioned == (effective == .none ? [.skip(.notificationsOff)] : [notify(.mention)]))
  }

  @Test("the level mentions shows what concerns the user personally")
  func personal() {
    #expect(PushKind.allCases.filter(\.isPersonal) == [.mention, .reply, .reminder, .invitation, .added])
  }

  @Test("a user can switch off each kind, and only that one")
  func mutedKinds() {
    let context = FanOut.RoomContext(wasScheduled: true)
    for kind in AlertKind.allCases {
      let preferences = UserPreferences(mutedKinds: [kind])
      let bens = recipient(ben, [phone(bensPhone)], preferences: preferences)
      #expect(
        decisions(on: message(), in: context, bens) == [kind == .reminder ? .skip(.kindMuted) : notify(.reminder)])
      #expect(decisions(on: message(), bens) == [kind == .message ? .skip(.kindMuted) : notify(.message)])
    }
  }

  @Test("silent kinds ignore levels, mutes and kinds")
  func silentKinds() {
    let preferences = UserPreferences(notifications: .none, mutedKinds: AlertKinds(AlertKind.allCases))
    let membership = member(mutedUntil: sentAt.adding(milliseconds: 1), level: NotificationLevel.none)
    let annas = recipient(anna, membership, [phone(annasPhone, .none)], preferences: preferences)
    #expect(decisions(on: message(), annas) == [notify(.sent)])
    let read = event(.reading(tea, anna, through: .numbered(3), thread: nil))
    #expect(decisions(on: read, annas) == [notify(.update)])
  }

  @Test("in quiet hours alerts are silent; silent kinds do not change")
  func quiet() throws {
    let hours = QuietHours(
      from: try #require(TimeOfDay("00:00")), to: try #require(TimeOfDay("00:01")), timeZone: "UTC")
    let preferences = UserPreferences(quietHours: hours, showsPreviews: false)
    #expect(
      decisions(on: message(), recipient(ben, [phone(bensPhone)], preferences: preferences))
        == [.notify(FanOut.Delivery(kind: .message, isQuiet: true, showsPreview: false))])
    #expect(
      decisions(on: message(), recipient(anna, [phone(annasPhone)], preferences: preferences))
        == [.notify(FanOut.Delivery(kind: .sent, isQuiet: false, showsPreview: false))])
  }

  @Test("a blocked or disabled account: the first reason is given, and an update still arrives")
  func blocked() {
    func bens(_ membership: FanOut.Membership, isDisabled: Bool = false) -> FanOut.Recipient {
      FanOut.Recipient(
        user: ben, membership: membership, isDisabled: isDisabled, hasBlockedActor: true,
        devices: [phone(bensPhone, .none, roomChanges: true)])
    }
    let muted = member(mutedUntil: sentAt.adding(milliseconds: 1))
    #expect(
      decisions(on: message(mentions: Mentions(users: [ben])), bens(muted, isDisabled: true)) == [.skip(.blocked)])
    #expect(decisions(on: message(), bens(.left(at: LogPosition(8)))) == [.skip(.left)])
    #expect(decisions(on: event(.room(tea, nil)), bens(muted)) == [.skip(.blocked)])
    #expect(decisions(on: event(.deletion(tea, .numbered(5), at: .room(5))), bens(muted)) == [notify(.update)])
    let disabled = FanOut.Recipient(user: ben, membership: muted, isDisabled: true, devices: [phone(bensPhone)])
    #expect(decisions(on: message(), disabled) == [.skip(.accountDisabled)])
  }
}

extension PushEvent.Change {
  fileprivate var isDeletion: Bool {
    guard case .deletion = self else { return false }
    return true
  }
}

@Suite struct QuietTimeSpecs {
  /// 2026-03-29, the day on which summer time begins in Berlin, at this time in UTC.
  private func time(_ text: String) throws -> QuietTime {
    let minutes = try #require(TimeOfDay(text)).minutes
    return QuietTime(of: Timestamp(milliseconds: 1_774_742_400_000 + Int64(minutes) * 60_000))
  }

  private func hours(_ from: String, _ to: String, _ zone: String) throws -> QuietHours {
    QuietHours(from: try #require(TimeOfDay(from)), to: try #require(TimeOfDay(to)), timeZone: zone)
  }

  @Test(
    "hours may span midnight, begin at the first minute and end before the last",
    arguments: [
      ("22:00", "07:00", "UTC", "21:59", false), ("22:00", "07:00", "UTC", "22:00", true),
      ("22:00", "07:00", "UTC", "06:59", true), ("22:00", "07:00", "UTC", "07:00", false),
      ("09:00", "17:00", "UTC", "08:59", false), ("09:00", "17:00", "UTC", "09:00", true),
      ("09:00", "17:00", "UTC", "16:59", true), ("09:00", "17:00", "UTC", "17:00", false),
      // One hour ahead before 01:00 UTC, two hours after it.
      ("01:00", "02:00", "Europe/Berlin", "00:59", true), ("03:00", "04:00", "Europe/Berlin", "01:00", true),
      ("02:00", "03:00", "Europe/Berlin", "01:00", false), ("00:00", "01:00", "Asia/Kolkata", "18:30", true),
      ("00:00", "01:00", "America/New_York", "04:00", true), ("00:00", "23:59", "Mars/Olympus", "12:00", false),
    ])
  func hours(from: String, to: String, zone: String, now: String, isQuiet: Bool) throws {
    var time = try time(now)
    let hours = try hours(from, to, zone)
    // The second result is from memory.
    let found = [time.isIn(hours), time.isIn(hours), time.isIn(nil)]
    #expect(found == [isQuiet, isQuiet, false])
  }
}
