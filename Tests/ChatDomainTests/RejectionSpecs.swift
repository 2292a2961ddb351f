import ChatDomain
import ChatPrimitives
import Testing

/// One way to each rejection. The rules themselves, with their limits, stand in the other specs; this one sees that no
/// code is without a way to it.
@Suite("Every rejection is reached")
struct RejectionSpecs {
  @Test("by some command", arguments: Rejection.allCases)
  func isReached(rejection: Rejection) throws {
    let ways = Self.ofAccounts.merging(Self.ofSessionsAndDevices) { first, _ in first }
      .merging(Self.ofRooms) { first, _ in first }.merging(Self.ofInvites) { first, _ in first }
      .merging(Self.ofIdentities) { first, _ in first }.merging(Self.ofScheduling) { first, _ in first }
      .merging(Self.ofModeration) { first, _ in first }.merging(Self.ofWorkspaces) { first, _ in first }
      .merging(Self.ofMessageParts) { first, _ in first }
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
    _ events: [UserEvent], _ action: UserAction, _ context: CommandContext = .user(alice)
  ) -> Rejection? {
    let directory = TestDirectory(
      emails: ["taken@example.org": bob], externalIDs: ["taken": bob], identities: [.taken: bob])
    return given(UserDecider.self, events).with(directory).when(UserCommand(alice, action), by: context).rejection
  }

  private static func room(
    _ later: [RoomEvent], _ command: RoomCommand, _ context: CommandContext = .user(alice)
  ) -> Rejection? {
    given(RoomDecider.self, teaRoom + later).when(command, by: context).rejection
  }

  private static let ofScheduling: Ways = [
    .scheduledMessageNotFound: { room([], .cancelScheduledMessage(hello, prior: nil)) },
    .scheduledMessageSettled: {
      let prior = KnownScheduledMessage(author: alice, scheduled: .at(6), fingerprint: nil)
      return room([], .cancelScheduledMessage(hello, prior: prior))
    },
    .sendingTimeOutOfRange: { room([], .schedule(by: alice, at: dawn)) },
    .tooManyScheduledMessages: {
      let waiting = (0..<Limits.scheduledMessagesPerUserAndRoom).map {
        RoomEvent.scheduling(.scheduled(id(1_000 + UInt64($0)), .saying(by: alice)))
      }
      return room(waiting, .schedule(by: alice))
    },
  ]

  private static let ofAccounts: Ways = [
    .forbidden: { user(aliceAtHome, .changeProfile(ProfileEdit(nickname: "Al")), .user(bob)) },
    .serviceOnly: { user([], .register(.named(externalID: "a-1"))) },
    .userNotFound: { user([], .changeProfile(ProfileEdit(nickname: "Al"))) },
    .idInUse: { user(aliceAtHome, .register(.named("Al"))) },
    .idempotencyKeyReused: {
      var harness = DeciderHarness<RoomDecider>(teaRoom)
      let context = CommandContext.user(alice, key: .retried)
      do throws(Rejection) {
        _ = try harness.submit(.edit(RoomEdit(name: "green tea")), by: context)
        _ = try harness.submit(.edit(RoomEdit(name: "coffee")), by: context)
        return nil
      } catch {
        return error
      }
    },
    .emailInUse: { user([], .register(.named(email: "taken@example.org"))) },
    .externalIDInUse: { user([], .register(.named(externalID: "taken")), .service()) },
    .nicknameEmpty: { user([], .register(.named(""))) },
    .nameMalformed: { user([], .register(.named("a\u{202e}b"))) },
    .nicknameTooLong: { user([], .register(.named(String(repeating: "n", count: 129)))) },
    .emailMalformed: { user([], .register(.named(email: "alice"))) },
    .externalIDMalformed: { user([], .register(.named(externalID: "")), .service()) },
    .credentialIncomplete: { user([], .register(.named(credential: nil))) },
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
      user(aliceAtHome + [.account(.disabled)], .startSession(otherLogin, device: nil, proof: .password(version: 1)))
    },
  ]

  private static let ofSessionsAndDevices: Ways = [
    .sessionEnded: {
      user(aliceAtHome, .changeProfile(ProfileEdit(nickname: "Al")), .user(alice, session: otherLogin))
    },
    .sessionNotFound: { user(aliceAtHome, .endSession(otherLogin, .loggedOut)) },
    .credentialsRejected: { user(aliceAtHome, .startSession(otherLogin, device: nil, proof: .password(version: 2))) },
    .refreshTokenExpired: { user(aliceAtHome, .refreshSession(otherLogin, presented: 1, oldest: nil)) },
    .refreshTokenReused: {
      user(
        aliceAtHome + [.sessions(.ended(login, .refreshTokenReused))], .refreshSession(login, presented: 1, oldest: nil)
      )
    },
    .sessionRefreshed: {
      user(
        aliceAtHome + [.sessions(.refreshed(login, generation: 2))],
        .startSession(login, device: phone, proof: .password(version: 1)))
    },
    .deviceNotFound: { user(aliceAtHome, .removeDevice(tablet)) },
    .deviceTextTooLong: {
      user(aliceAtHome, .setDevice(phone, .named(String(repeating: "d", count: 129))))
    },
    .pushTokenEmpty: {
      user(aliceAtHome, .setDevice(phone, .named(tokens: [PushToken(provider: .apns, token: "")])))
    },
    .pushTokenTooLong: {
      let token = PushToken(provider: .fcm, token: String(repeating: "t", count: 4097))
      return user(aliceAtHome, .setDevice(phone, .named(tokens: [token])))
    },
    .pushTokenMalformed: {
      user(aliceAtHome, .setDevice(phone, .named(tokens: [PushToken(provider: .fcm, token: "t\0")])))
    },
    .tooManyDevices: {
      let events = (0..<UInt64(Limits.devicesPerUser)).map { UserEvent.devices(.registered(id(1000 + $0), .named())) }
      return user([.account(.registered(.named()))] + events, .setDevice(phone, .named()))
    },
  ]

  private static let ofIdentities: Ways = [
    .identityInUse: { user(aliceAtHome, .linkIdentity(.taken, proof: .password(version: 1))) },
    .identityNotFound: { user(aliceAtHome, .unlinkIdentity(.of("a"))) },
    .lastLogin: {
      let imported = UserEvent.account(.registered(.named(email: nil, credential: nil)))
      return user([imported, .logins(.identityLinked(.of("a")))], .unlinkIdentity(.of("a")))
    },
    .linkedLoginRequired: {
      let imported = UserEvent.account(.registered(.named(email: nil, credential: nil)))
      return user([imported, .logins(.identityLinked(.of("a")))], .linkIdentity(.of("b"), proof: .identity(.of("c"))))
    },
    .tooManyIdentities: {
      let linked = (0..<Limits.identitiesPerUser).map { UserEvent.logins(.identityLinked(.of("subject \($0)"))) }
      return user(aliceAtHome + linked, .linkIdentity(.of("one more"), proof: .password(version: 1)))
    },
    .passwordWrong: { user(aliceAtHome, .changePassword(.version(3), checked: 2)) },
    .passwordMissing: {
      let imported = UserEvent.account(.registered(.named(email: nil, externalID: "a-1", credential: nil)))
      return user([imported], .setEmail("a@example.org", checked: nil), .service(for: alice))
    },
    .passwordResetUsed: {
      user(aliceAtHome + [.logins(.credentialSet(.version(2)))], .resetPassword(.other(2), issuedFor: 1))
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
      return user(aliceAtHome, .uploadMedia(id(600), photo, name: "holiday/photo.png"))
    },
  ]

  private static let ofRooms: Ways = [
    .roomNotFound: { room([.members(.left(dave))], .leave, .user(dave)) },
    .roomArchived: { room([.lifecycle(.archived)], .edit(RoomEdit(name: "coffee"))) },
    .roomNameEmpty: { room([], .edit(RoomEdit(name: ""))) },
    .roomNameTooLong: { room([], .edit(RoomEdit(name: String(repeating: "r", count: 257)))) },
    .memberNotFound: { room([], .removeMember(stranger)) },
    .revisionMismatch: { room([], .edit(RoomEdit(name: "coffee")), .user(alice, if: .at(2))) },
    .tooManyMembers: {
      let others = (0..<UInt64(Limits.membersPerRoom)).map { RoomEvent.members(.added(id(1000 + $0), role: .member)) }
      return room([.members(.left(dave))] + others, .addMember(dave))
    },
    .messageNotFound: { room([], .deleteMessage(hello, target: nil)) },
    .messageDeleted: {
      room([], .editMessage(hello, .plain("hi"), target: .of(alice, at: 6, deletedAt: 7)))
    },
    .emptyText: { room([], .send("", by: alice)) },
    .textTooLong: { room([], .send(String(repeating: "x", count: 16_385), by: alice)) },
  ]

  private static func sending(_ details: MessageDetails, _ references: MessageReferences? = nil) -> Rejection? {
    room([], .send(MessageContent(text: "hello", details: details), by: alice, references))
  }

  private static let ofMessageParts: Ways = {
    let photo = Media(hash: [1], contentType: "image/png", size: 3)
    let inThread = KnownMessage.of(bob, in: MessageLocation(thread: 1, ordinal: 1))
    let file = Attachment(media: id(1), content: photo, name: nil)
    return [
      .mediaNotFound: { sending(MessageDetails(attachments: [file]), MessageReferences(lacksMedia: true)) },
      .notAThreadRoot: { sending(MessageDetails(), MessageReferences(thread: id(41), root: inThread)) },
      .replyElsewhere: { sending(MessageDetails(replyTo: id(41)), MessageReferences(answered: inThread)) },
      .attachmentNameTooLong: {
        let name = String(repeating: "n", count: 257)
        return sending(MessageDetails(attachments: [Attachment(media: id(1), content: photo, name: name)]))
      },
      .customTypeMalformed: { sending(MessageDetails(custom: CustomPart(type: "", body: "{}"))) },
      .customBodyTooLong: {
        sending(MessageDetails(custom: CustomPart(type: "a", body: String(repeating: "1", count: 65_537))))
      },
      .emojiMalformed: { room([], .react(hello, "ok", target: .of(alice, at: 6))) },
      .tooManyMentions: {
        sending(MessageDetails(mentions: Mentions(users: (0..<51 as Range<UInt64>).map { id(1000 + $0) })))
      },
      .tooManyAttachments: { sending(MessageDetails(attachments: Array(repeating: file, count: 11))) },
      .tooManyReactions: {
        let full = ReactionCounts(kinds: Limits.reactionKindsPerMessage, users: 0, ownKinds: 0, isOwn: false)
        return room([], .react(hello, "👍", target: .of(alice, at: 6), counts: full))
      },
      .tooManyPins: {
        let pins = (0..<UInt64(Limits.pinsPerRoom)).map {
          RoomEvent.annotations(.pinned(id(1000 + $0), at: .room($0 + 2)))
        }
        return room(pins, .pin(hello, target: .of(alice, at: 6)))
      },
    ]
  }()

  private static let ofInvites: Ways = [
    .inviteNotFound: { room([], .revokeInvite(link)) },
    .inviteExpired: { accepting([.sharing(.inviteCreated(.giving(until: noon)))]) },
    .inviteUsedUp: {
      accepting([.sharing(.inviteCreated(.giving(uses: 1))), .members(.joined(stranger, role: .member, invite: link))])
    },
    .inviteRevoked: { accepting([.sharing(.inviteCreated(.giving())), .sharing(.inviteRevoked(link))]) },
    .inviteExpiryOutOfRange: { room([], .createInvite(.giving(until: noon))) },
    .inviteUsesOutOfRange: { room([], .createInvite(.giving(uses: 0))) },
    .inviteRoleNotAllowed: { room([], .createInvite(.giving(.owner))) },
    .invitesExhausted: {
      let events = (0..<UInt64(Limits.invitesEverPerRoom)).map {
        RoomEvent.sharing(.inviteCreated(.giving(id: id(1000 + $0))))
      }
      return room(events, .createInvite(.giving()))
    },
    .tooManyInvites: {
      let events = (0..<UInt64(Limits.invitesPerRoom)).map {
        RoomEvent.sharing(.inviteCreated(.giving(id: id(1000 + $0))))
      }
      return room(events, .createInvite(.giving()))
    },
  ]

  private static let ofModeration: Ways = [
    .banned: { room([.members(.banned(dave))], .addMember(dave)) },
    .banNotFound: { room([], .unban(dave)) },
    .memberSilenced: {
      room([.members(.silenced(dave, until: noon.adding(milliseconds: 1)))], .send(by: dave), .user(dave))
    },
    .ownerMustTransfer: { room([], .leave) },
    .roleNotAllowed: { room([], .changeRole(bob, .owner)) },
    .topicTooLong: { room([], .edit(RoomEdit(topic: String(repeating: "t", count: 1025)))) },
    .directRoomFixed: {
      given(
        RoomDecider.self,
        [.lifecycle(.created(.direct(alice, bob))), .members(.joined(alice, role: .member, invite: nil))]
      )
      .when(.leave, by: .user(alice)).rejection
    },
    .directMembersOutOfRange: {
      given(RoomDecider.self, []).when(.create(.direct(alice)), by: .user(alice)).rejection
    },
    .tooManyBans: {
      let events = (0..<UInt64(Limits.bansPerRoom)).map { RoomEvent.members(.banned(id(1000 + $0))) }
      return room(events, .ban(dave))
    },
  ]

  private static func workspace(
    _ later: [WorkspaceEvent], _ command: WorkspaceCommand, _ context: CommandContext = .user(alice)
  ) -> Rejection? {
    given(WorkspaceDecider.self, officeEvents + later).with(.ofOffice(and: stranger)).when(command, by: context)
      .rejection
  }

  private static let ofWorkspaces: Ways = [
    .workspaceNotFound: { workspace([], .edit(WorkspaceEdit(name: "home")), .user(stranger)) },
    .invitationNotFound: { workspace([], .acceptInvitation, .user(stranger)) },
    .workspaceNameEmpty: { workspace([], .edit(WorkspaceEdit(name: ""))) },
    .workspaceNameTooLong: { workspace([], .edit(WorkspaceEdit(name: String(repeating: "w", count: 257)))) },
    .workspaceMembersOnly: {
      given(RoomDecider.self, [.lifecycle(.created(.channel()))]).with(.ofOffice(and: stranger))
        .when(.join, by: .service(for: stranger)).rejection
    },
    .tooManyChannels: {
      let channel = Room(.channel(), .at(1))
      let rooms = (0..<UInt64(Limits.channelsPerWorkspace)).map { (RoomID(UUIDBytes(high: 7, low: $0)), channel) }
      return given(RoomDecider.self, []).with(.ofOffice(rooms: Dictionary(uniqueKeysWithValues: rooms)))
        .when(.create(.channel()), by: .user(alice)).rejection
    },
    .tooManyWorkspaceMembers: {
      let others = (0..<UInt64(Limits.membersPerWorkspace)).map {
        WorkspaceEvent.members(.joined(id(1000 + $0), role: .member, by: .service))
      }
      return workspace(others, .join, .service(for: stranger))
    },
    .tooManyInvitations: {
      let others = (0..<UInt64(Limits.invitationsPerWorkspace)).map {
        WorkspaceEvent.invitations(.invited(id(1000 + $0), role: .member))
      }
      return workspace(others, .invite(stranger, .member))
    },
  ]

  /// Dave, who has left, comes back by the invite.
  private static func accepting(_ later: [RoomEvent]) -> Rejection? {
    room([.members(.left(dave))] + later, .acceptInvite(link), .user(dave))
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
