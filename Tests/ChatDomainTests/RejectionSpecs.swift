import ChatDomain
import ChatPrimitives
import Testing

/// One way to reach each rejection. The other specs cover the rules and their limits. This one checks that every code
/// can be reached.
@Suite("Every rejection is reached")
struct RejectionSpecs {
  @Test("by some command", arguments: Rejection.allCases)
  func isReached(rejection: Rejection) throws {
    let ways = Self.ofAccounts.merging(Self.ofSessionsAndDevices) { first, _ in first }
      .merging(Self.ofRooms) { first, _ in first }.merging(Self.ofInvites) { first, _ in first }
      .merging(Self.ofIdentities) { first, _ in first }.merging(Self.ofScheduling) { first, _ in first }
      .merging(Self.ofReports) { first, _ in first }
      .merging(Self.ofModeration) { first, _ in first }.merging(Self.ofWorkspaces) { first, _ in first }
      .merging(Self.ofMessageParts) { first, _ in first }.merging(Self.ofBlocks) { first, _ in first }
      .merging(Self.ofDeletion) { first, _ in first }
    let reach = try #require(ways[rejection], "no way to \(rejection.rawValue)")
    #expect(reach() == rejection)
  }

  @Test("codes are distinct, in lower case and stable in form")
  func codes() {
    #expect(Set(Rejection.allCases.map(\.rawValue)).count == Rejection.allCases.count)
    for rejection in Rejection.allCases {
      #expect(rejection.rawValue.allSatisfy { $0 == "_" || ("a"..."z").contains($0) })
    }
  }

  private typealias Ways = [Rejection: @Sendable () -> Rejection?]

  private static func user(
    _ events: [UserEvent], _ command: UserCommand, _ context: CommandContext = .user(alice)
  ) -> Rejection? {
    let directory = TestDirectory(
      emails: ["taken@example.org": bob], externalIDs: ["taken": bob], identities: [.taken: bob])
    return given(UserDecider.self, events).with(directory).when(command, by: context).rejection
  }

  private static func room(
    _ later: [RoomEvent], _ command: RoomCommand, _ context: CommandContext = .user(alice),
    knowing known: Known = Known()
  ) -> Rejection? {
    given(RoomDecider.self, teaRoom + later).knowing(known).when(command, by: context).rejection
  }

  private static let ofScheduling: Ways = [
    .scheduledMessageNotFound: { room([], .scheduling(.cancel(hello))) },
    .scheduledMessageSettled: {
      let prior = KnownScheduledMessage(author: alice, scheduled: .at(6), fingerprint: nil)
      return room([], .scheduling(.cancel(hello)), knowing: .scheduled([hello: prior]))
    },
    .sendingTimeOutOfRange: { room([], .schedule(at: dawn)) },
    .tooManyScheduledMessages: {
      let waiting = (0..<Limits.scheduledMessagesPerUserAndRoom).map {
        RoomEvent.scheduling(.scheduled(id(1_000 + UInt64($0)), .saying(by: alice)))
      }
      return room(waiting, .schedule())
    },
  ]

  private static let ofReports: Ways = [
    .reportNotFound: { room([], .resolve()) },
    .reportCommentTooLong: { room([], .report(user: dave, comment: String(repeating: "x", count: 2_049))) },
    .reportNoteTooLong: {
      var known = Known()
      known.reports[.of(complaint)] = .of(at: 6)
      return room([.reported()], .resolve(note: String(repeating: "x", count: 2_049)), knowing: known)
    },
    .tooManyReports: {
      let open = (0..<UInt64(Limits.openReportsPerUserAndRoom)).map {
        RoomEvent.reported(by: alice, id: id(1_000 + $0))
      }
      return room(open, .report(user: dave))
    },
  ]

  private static let ofAccounts: Ways = [
    .forbidden: { user(aliceAtHome, .account(.changeProfile(ProfileEdit(nickname: "Al"))), .user(bob)) },
    .serviceOnly: { user([], .account(.register(.named(externalID: "a-1")))) },
    .userNotFound: { user([], .account(.changeProfile(ProfileEdit(nickname: "Al")))) },
    .idInUse: { user(aliceAtHome, .account(.register(.named("Al")))) },
    .idempotencyKeyReused: {
      var harness = DeciderHarness<RoomDecider>(teaRoom)
      let context = CommandContext.user(alice, key: .retried)
      do throws(Rejection) {
        _ = try harness.submit(.lifecycle(.edit(RoomEdit(name: "green tea"))), by: context)
        _ = try harness.submit(.lifecycle(.edit(RoomEdit(name: "coffee"))), by: context)
        return nil
      } catch {
        return error
      }
    },
    .emailInUse: { user([], .account(.register(.named(email: "taken@example.org")))) },
    .externalIDInUse: { user([], .account(.register(.named(externalID: "taken"))), .service()) },
    .nicknameEmpty: { user([], .account(.register(.named("")))) },
    .quietHoursMalformed: {
      user(aliceAtHome, .account(.setPreferences(PreferencesEdit(quietHours: .set(.atNight(to: "22:00"))))))
    },
    .languageMalformed: { user(aliceAtHome, .devices(.set(phone, .named(language: "d1")))) },
    .nameMalformed: { user([], .account(.register(.named("a\u{202e}b")))) },
    .nicknameTooLong: { user([], .account(.register(.named(String(repeating: "n", count: 129))))) },
    .emailMalformed: { user([], .account(.register(.named(email: "alice")))) },
    .externalIDMalformed: { user([], .account(.register(.named(externalID: ""))), .service()) },
    .credentialIncomplete: { user([], .account(.register(.named(credential: nil)))) },
    .quotaExceeded: {
      var usage = DailyUsage()
      let time = Timestamp(milliseconds: 0)
      usage.charge(Usage(messages: 1), to: alice, at: time)
      do throws(Rejection) {
        try usage.check(Usage(messages: 1), by: alice, at: time, under: Quotas(messagesPerDay: 1))
        return nil
      } catch {
        return error
      }
    },
    .accountDisabled: {
      user(
        aliceAtHome + [.account(.disabled)], .sessions(.start(otherLogin, device: nil, proof: .password(version: 1))))
    },
  ]

  private static func hold(
    _ command: LegalHolds.Command, after earlier: LegalHolds = LegalHolds(), isErased: Bool = false
  ) -> Rejection? {
    do throws(Rejection) {
      _ = try earlier.decide(command, .service(), earlier: nil) { _ in isErased }
      return nil
    } catch {
      return error
    }
  }

  private static let ofDeletion: Ways = [
    .legalHoldNotFound: { hold(.lift(.user(alice))) },
    .legalHoldReasonMalformed: { hold(.place(LegalHold(.user(alice), reason: ""))) },
    .alreadyErased: { hold(.place(LegalHold(.user(alice), reason: "case 7")), isErased: true) },
    .tooManyLegalHolds: {
      var holds = LegalHolds()
      for number in 0..<UInt64(Limits.legalHolds) {
        holds.place(LegalHold(.user(id(1_000 + number)), reason: "case 7"), .at(1))
      }
      return hold(.place(LegalHold(.user(alice), reason: "case 7")), after: holds)
    },
  ]

  private static let ofBlocks: Ways = [
    .cannotBlockSelf: { user(aliceAtHome, .blocks(.block(alice))) },
    .blockNotFound: { user(aliceAtHome, .blocks(.unblock(bob))) },
    .tooManyBlockedUsers: {
      let blocks = (0..<UInt64(Limits.blockedUsersPerUser)).map { UserEvent.blocks(.blocked(id(1000 + $0))) }
      return user(aliceAtHome + blocks, .blocks(.block(bob)))
    },
    .directRoomOnly: { given(RoomDecider.self, teaRoom).when(.members(.setHidden(true)), by: .user(alice)).rejection },
    .additionRefused: {
      given(RoomDecider.self, Array(teaRoom.dropLast()))
        .with(TestDirectory(contacts: [dave: ContactRules(groupAdditions: .nobody)]))
        .when(.members(.add(dave)), by: .user(alice)).rejection
    },
    .directMessagesRefused: {
      given(RoomDecider.self, []).with(TestDirectory(blocked: [bob: [alice]]))
        .when(.lifecycle(.create(.direct(alice, bob))), by: .user(alice)).rejection
    },
  ]

  private static let ofSessionsAndDevices: Ways = [
    .sessionEnded: {
      user(aliceAtHome, .account(.changeProfile(ProfileEdit(nickname: "Al"))), .user(alice, session: otherLogin))
    },
    .sessionNotFound: { user(aliceAtHome, .sessions(.end(otherLogin, .loggedOut))) },
    .credentialsRejected: {
      user(aliceAtHome, .sessions(.start(otherLogin, device: nil, proof: .password(version: 2))))
    },
    .refreshTokenExpired: { user(aliceAtHome, .sessions(.refresh(otherLogin, presented: 1, oldest: nil))) },
    .refreshTokenReused: {
      user(
        aliceAtHome + [.sessions(.ended(login, .refreshTokenReused))],
        .sessions(.refresh(login, presented: 1, oldest: nil))
      )
    },
    .sessionRefreshed: {
      user(
        aliceAtHome + [.sessions(.refreshed(login, generation: 2))],
        .sessions(.start(login, device: phone, proof: .password(version: 1))))
    },
    .deviceNotFound: { user(aliceAtHome, .devices(.remove(tablet))) },
    .deviceTextTooLong: {
      user(aliceAtHome, .devices(.set(phone, .named(String(repeating: "d", count: 129)))))
    },
    .pushTokenEmpty: {
      user(aliceAtHome, .devices(.set(phone, .named(tokens: [PushToken(provider: .apns, token: "")]))))
    },
    .pushTokenTooLong: {
      let token = PushToken(provider: .fcm, token: String(repeating: "t", count: 4097))
      return user(aliceAtHome, .devices(.set(phone, .named(tokens: [token]))))
    },
    .pushTokenMalformed: {
      user(aliceAtHome, .devices(.set(phone, .named(tokens: [PushToken(provider: .fcm, token: "t\0")]))))
    },
    .tooManyDevices: {
      let events = (0..<UInt64(Limits.devicesPerUser)).map { UserEvent.devices(.registered(id(1000 + $0), .named())) }
      return user([.account(.registered(.named()))] + events, .devices(.set(phone, .named())))
    },
  ]

  private static let ofIdentities: Ways = [
    .identityInUse: { user(aliceAtHome, .logins(.link(.taken, proof: .password(version: 1)))) },
    .identityNotFound: { user(aliceAtHome, .logins(.unlink(.of("a")))) },
    .lastLogin: {
      let imported = UserEvent.account(.registered(.named(email: nil, credential: nil)))
      return user([imported, .logins(.identityLinked(.of("a")))], .logins(.unlink(.of("a"))))
    },
    .linkedLoginRequired: {
      let imported = UserEvent.account(.registered(.named(email: nil, credential: nil)))
      return user([imported, .logins(.identityLinked(.of("a")))], .logins(.link(.of("b"), proof: .identity(.of("c")))))
    },
    .tooManyIdentities: {
      let linked = (0..<Limits.identitiesPerUser).map { UserEvent.logins(.identityLinked(.of("subject \($0)"))) }
      return user(aliceAtHome + linked, .logins(.link(.of("one more"), proof: .password(version: 1))))
    },
    .passwordWrong: { user(aliceAtHome, .logins(.changePassword(.version(3), checked: 2))) },
    .passwordMissing: {
      let imported = UserEvent.account(.registered(.named(email: nil, externalID: "a-1", credential: nil)))
      return user([imported], .account(.setEmail("a@example.org", checked: nil)), .service(for: alice))
    },
    .passwordResetUsed: {
      user(aliceAtHome + [.logins(.credentialSet(.version(2)))], .logins(.resetPassword(.other(2), issuedFor: 1)))
    },
    .guestNotAllowed: {
      do throws(Rejection) {
        try User(.named(email: nil), .at(1)).requireFullAccount()
        return nil
      } catch {
        return error
      }
    },
    .mediaNameMalformed: {
      let photo = Media(hash: [UInt8](repeating: 1, count: 32), contentType: "image/png", size: 1)
      return user(aliceAtHome, .media(.upload(id(600), photo, name: "holiday/photo.png")))
    },
  ]

  private static let ofRooms: Ways = [
    .roomNotFound: { room([.members(.left(dave))], .members(.leave), .user(dave)) },
    .roomArchived: { room([.lifecycle(.archived)], .lifecycle(.edit(RoomEdit(name: "coffee")))) },
    .roomNameEmpty: { room([], .lifecycle(.edit(RoomEdit(name: "")))) },
    .roomNameTooLong: { room([], .lifecycle(.edit(RoomEdit(name: String(repeating: "r", count: 257))))) },
    .memberNotFound: { room([], .members(.remove(stranger))) },
    .revisionMismatch: { room([], .lifecycle(.edit(RoomEdit(name: "coffee"))), .user(alice, if: .at(2))) },
    .tooManyMembers: {
      let others = (0..<UInt64(Limits.membersPerRoom)).map { RoomEvent.members(.added(id(1000 + $0), role: .member)) }
      return room([.members(.left(dave))] + others, .members(.add(dave)))
    },
    .messageNotFound: { room([], .messages(.delete(hello))) },
    .messageDeleted: {
      room([], .messages(.edit(hello, .plain("hi"))), knowing: .messages([hello: .of(alice, at: 6, deletedAt: 7)]))
    },
    .emptyText: { room([], .send("")) },
    .textTooLong: { room([], .send(String(repeating: "x", count: 16_385))) },
  ]

  private static func sending(
    _ details: MessageDetails, in thread: MessageID? = nil, knowing messages: [MessageID: KnownMessage] = [:],
    lacksMedia: Bool = false
  ) -> Rejection? {
    let content = MessageContent(text: "hello", details: details)
    var known = Known.messages(messages)
    if !lacksMedia { known.media = content.media }
    return room([], .send(.asking(for: content, in: thread)), knowing: known)
  }

  private static let ofMessageParts: Ways = {
    let photo = Media(hash: [1], contentType: "image/png", size: 3)
    let inThread = KnownMessage.of(bob, in: MessageLocation(thread: 1, ordinal: 1))
    let file = Attachment(media: id(1), content: photo, name: nil)
    let aliceSaid = Known.messages([hello: .of(alice, at: 6)])
    return [
      .mediaNotFound: { sending(MessageDetails(attachments: [file]), lacksMedia: true) },
      .notAThreadRoot: { sending(MessageDetails(), in: id(41), knowing: [id(41): inThread]) },
      .replyElsewhere: { sending(MessageDetails(replyTo: id(41)), knowing: [id(41): inThread]) },
      .attachmentNameTooLong: {
        let name = String(repeating: "n", count: 257)
        return sending(MessageDetails(attachments: [Attachment(media: id(1), content: photo, name: name)]))
      },
      .customTypeMalformed: { sending(MessageDetails(custom: CustomPart(type: "", body: "{}"))) },
      .customBodyTooLong: {
        sending(MessageDetails(custom: CustomPart(type: "a", body: String(repeating: "1", count: 65_537))))
      },
      .customTypeMissing: {
        room([], .messages(.edit(hello, MessageEdit(text: nil, customBody: "1"))), knowing: aliceSaid)
      },
      .emojiMalformed: { room([], .annotations(.react(hello, "ok")), knowing: aliceSaid) },
      .tooManyMentions: {
        sending(MessageDetails(mentions: Mentions(users: (0..<51 as Range<UInt64>).map { id(1000 + $0) })))
      },
      .tooManyAttachments: { sending(MessageDetails(attachments: Array(repeating: file, count: 11))) },
      .tooManyReactions: {
        let full = ReactionCounts(kinds: Limits.reactionKindsPerMessage, users: 0, ownKinds: 0, isOwn: false)
        var known = aliceSaid
        known.reactions[ReactionKey(message: .of(hello), user: alice, emoji: "👍")] = full
        return room([], .annotations(.react(hello, "👍")), knowing: known)
      },
      .tooManyPins: {
        let pins = (0..<UInt64(Limits.pinsPerRoom)).map {
          RoomEvent.annotations(.pinned(id(1000 + $0), at: .room($0 + 2)))
        }
        return room(pins, .annotations(.pin(hello)), knowing: aliceSaid)
      },
    ]
  }()

  private static let ofInvites: Ways = [
    .inviteNotFound: { room([], .sharing(.revokeInvite(link))) },
    .inviteExpired: { accepting([.sharing(.inviteCreated(.giving(until: noon)))]) },
    .inviteUsedUp: {
      accepting([.sharing(.inviteCreated(.giving(uses: 1))), .members(.joined(stranger, role: .member, invite: link))])
    },
    .inviteRevoked: { accepting([.sharing(.inviteCreated(.giving())), .sharing(.inviteRevoked(link))]) },
    .inviteExpiryOutOfRange: { room([], .sharing(.createInvite(.giving(until: noon)))) },
    .inviteExpiryRequired: { room([], .sharing(.createInvite(.giving(until: nil)))) },
    .inviteUsesOutOfRange: { room([], .sharing(.createInvite(.giving(uses: 0)))) },
    .inviteRoleNotAllowed: { room([], .sharing(.createInvite(.giving(.owner)))) },
    .invitesExhausted: {
      let events = (0..<UInt64(Limits.invitesEverPerRoom)).map {
        RoomEvent.sharing(.inviteCreated(.giving(id: id(1000 + $0))))
      }
      return room(events, .sharing(.createInvite(.giving())))
    },
    .tooManyInvites: {
      let events = (0..<UInt64(Limits.invitesPerRoom)).map {
        RoomEvent.sharing(.inviteCreated(.giving(id: id(1000 + $0))))
      }
      return room(events, .sharing(.createInvite(.giving())))
    },
  ]

  private static let ofModeration: Ways = [
    .banned: { room([.members(.banned(dave))], .members(.add(dave))) },
    .banNotFound: { room([], .members(.unban(dave))) },
    .memberSilenced: {
      room([.members(.silenced(dave, until: noon.adding(milliseconds: 1)))], .send(), .user(dave))
    },
    .ownerMustTransfer: { room([], .members(.leave)) },
    .roleNotAllowed: { room([], .members(.changeRole(bob, .owner))) },
    .topicTooLong: { room([], .lifecycle(.edit(RoomEdit(topic: String(repeating: "t", count: 1025))))) },
    .customDataTooLong: { room([], .lifecycle(.edit(RoomEdit(custom: String(repeating: "7", count: 4097))))) },
    .directRoomFixed: {
      given(
        RoomDecider.self,
        [.lifecycle(.created(.direct(alice, bob))), .members(.joined(alice, role: .member, invite: nil))]
      )
      .when(.members(.leave), by: .user(alice)).rejection
    },
    .directMembersOutOfRange: {
      given(RoomDecider.self, []).when(.lifecycle(.create(.direct(alice))), by: .user(alice)).rejection
    },
    .tooManyBans: {
      let events = (0..<UInt64(Limits.bansPerRoom)).map { RoomEvent.members(.banned(id(1000 + $0))) }
      return room(events, .members(.ban(dave)))
    },
  ]

  private static func workspace(
    _ later: [WorkspaceEvent], _ command: WorkspaceCommand, _ context: CommandContext = .user(alice)
  ) -> Rejection? {
    given(WorkspaceDecider.self, officeEvents + later).with(.ofOffice(and: stranger)).when(command, by: context)
      .rejection
  }

  private static let ofWorkspaces: Ways = [
    .workspaceNotFound: { workspace([], .lifecycle(.edit(WorkspaceEdit(name: "home"))), .user(stranger)) },
    .invitationNotFound: { workspace([], .invitations(.accept), .user(stranger)) },
    .workspaceNameEmpty: { workspace([], .lifecycle(.edit(WorkspaceEdit(name: "")))) },
    .workspaceNameTooLong: {
      workspace([], .lifecycle(.edit(WorkspaceEdit(name: String(repeating: "w", count: 257)))))
    },
    .workspaceMembersOnly: {
      given(RoomDecider.self, [.lifecycle(.created(.channel()))]).with(.ofOffice(and: stranger))
        .when(.members(.join), by: .service(for: stranger)).rejection
    },
    .tooManyChannels: {
      let channel = Room(.channel(), .at(1))
      let rooms = (0..<UInt64(Limits.channelsPerWorkspace)).map { (RoomID(UUIDBytes(high: 7, low: $0)), channel) }
      return given(RoomDecider.self, []).with(.ofOffice(rooms: Dictionary(uniqueKeysWithValues: rooms)))
        .when(.lifecycle(.create(.channel())), by: .user(alice)).rejection
    },
    .tooManyDirectRooms: {
      var directory = TestDirectory.ofOffice()
      directory.directRooms[bob] = Set((0..<UInt64(Limits.directRoomsPerUserAndWorkspace)).map { id(1_000 + $0) })
      return given(RoomDecider.self, []).with(directory)
        .when(.lifecycle(.create(.direct(alice, bob, in: office))), by: .user(alice)).rejection
    },
    .tooManyWorkspaceMembers: {
      let others = (0..<UInt64(Limits.membersPerWorkspace)).map {
        WorkspaceEvent.members(.joined(id(1000 + $0), role: .member, by: .service))
      }
      return workspace(others, .members(.join), .service(for: stranger))
    },
    .tooManyInvitations: {
      let others = (0..<UInt64(Limits.invitationsPerWorkspace)).map {
        WorkspaceEvent.invitations(.invited(id(1000 + $0), role: .member))
      }
      return workspace(others, .invitations(.invite(stranger, .member)))
    },
  ]

  /// Dave, who has left, joins again with the invite.
  private static func accepting(_ later: [RoomEvent]) -> Rejection? {
    room([.members(.left(dave))] + later, .sharing(.acceptInvite(link)), .user(dave))
  }
}

extension Outcome {
  fileprivate var rejection: Rejection? {
    switch result {
    case .success: nil
    case .failure(let rejection): rejection
    }
  }
}
