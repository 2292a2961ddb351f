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

  private static func user(_ facts: [UserEvent], _ action: UserAction, _ act: Act = .user(alice)) -> Rejection? {
    let directory = TestDirectory(emails: ["taken@example.org": bob], externalIDs: ["taken": bob])
    return given(UserDecider.self, facts).with(directory).when(UserCommand(alice, action), by: act).rejection
  }

  private static func room(_ later: [RoomEvent], _ command: RoomCommand, _ act: Act = .user(alice)) -> Rejection? {
    given(RoomDecider.self, teaRoom + later).when(command, by: act).rejection
  }

  private static let ofAccounts: Ways = [
    .forbidden: { user(aliceAtHome, .changeProfile(nickname: "Al"), .user(bob)) },
    .serviceOnly: { user([], .register(.named(externalID: "a-1"))) },
    .userNotFound: { user([], .changeProfile(nickname: "Al")) },
    .idInUse: { user(aliceAtHome, .register(.named("Al"))) },
    .idempotencyKeyReused: {
      var desk = Desk<RoomDecider>(teaRoom)
      let act = Act.user(alice, key: .retried)
      do throws(Rejection) {
        _ = try desk.submit(.edit(RoomEdit(name: "green tea")), by: act)
        _ = try desk.submit(.edit(RoomEdit(name: "coffee")), by: act)
        return nil
      } catch {
        return error
      }
    },
    .emailInUse: { user([], .register(.named(email: "taken@example.org"))) },
    .externalIDInUse: { user([], .register(.named(externalID: "taken")), .service()) },
    .nicknameEmpty: { user([], .register(.named(""))) },
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
  ]

  private static let ofSessionsAndDevices: Ways = [
    .sessionEnded: { user(aliceAtHome, .changeProfile(nickname: "Al"), .user(alice, session: otherLogin)) },
    .sessionNotFound: { user(aliceAtHome, .endSession(otherLogin, .loggedOut)) },
    .credentialsRejected: { user(aliceAtHome, .startSession(otherLogin, device: nil, credentialVersion: 2)) },
    .refreshTokenExpired: { user(aliceAtHome, .refreshSession(otherLogin, presented: 1)) },
    .refreshTokenReused: {
      user(aliceAtHome + [.sessionEnded(login, .refreshTokenReused)], .refreshSession(login, presented: 1))
    },
    .sessionRefreshed: {
      user(
        aliceAtHome + [.sessionRefreshed(login, generation: 2)],
        .startSession(login, device: phone, credentialVersion: 1))
    },
    .deviceNotFound: { user(aliceAtHome, .removeDevice(tablet)) },
    .deviceTextTooLong: {
      user(aliceAtHome, .setDevice(phone, .named(String(repeating: "d", count: 129))))
    },
    .pushTokenTooLong: {
      let token = PushToken(provider: .fcm, token: String(repeating: "t", count: 4097))
      return user(aliceAtHome, .setDevice(phone, .named(tokens: [token])))
    },
    .tooManyDevices: {
      let facts = (0..<UInt64(Limits.devicesPerUser)).map { UserEvent.deviceRegistered(id(1000 + $0), .named()) }
      return user([.registered(.named())] + facts, .setDevice(phone, .named()))
    },
  ]

  private static let ofRooms: Ways = [
    .roomNotFound: { room([.memberLeft(dave)], .leave, .user(dave)) },
    .roomArchived: { room([.archived], .edit(RoomEdit(name: "coffee"))) },
    .roomNameEmpty: { room([], .edit(RoomEdit(name: ""))) },
    .roomNameTooLong: { room([], .edit(RoomEdit(name: String(repeating: "r", count: 257)))) },
    .memberNotFound: { room([], .removeMember(stranger)) },
    .tooManyMembers: {
      let others = (0..<UInt64(Limits.membersPerRoom)).map { RoomEvent.memberAdded(id(1000 + $0), role: .member) }
      return room([.memberLeft(dave)] + others, .addMember(dave))
    },
    .messageNotFound: { room([], .deleteMessage(hello, target: nil)) },
    .messageDeleted: {
      room([], .editMessage(hello, .plain("hi"), target: .of(alice, at: 6, deletedAt: 7)))
    },
    .emptyText: { room([], .send("", by: alice)) },
    .textTooLong: { room([], .send(String(repeating: "x", count: 16_385), by: alice)) },
  ]

  private static let ofInvites: Ways = [
    .inviteNotFound: { room([], .revokeInvite(link)) },
    .inviteExpired: { accepting([.inviteCreated(.giving(until: noon))]) },
    .inviteUsedUp: {
      accepting([.inviteCreated(.giving(uses: 1)), .memberJoined(stranger, role: .member, invite: link)])
    },
    .inviteRevoked: { accepting([.inviteCreated(.giving()), .inviteRevoked(link)]) },
    .inviteExpiryOutOfRange: { room([], .createInvite(.giving(until: noon))) },
    .inviteUsesOutOfRange: { room([], .createInvite(.giving(uses: 0))) },
    .inviteRoleNotAllowed: { room([], .createInvite(.giving(.owner))) },
    .tooManyInvites: {
      let facts = (0..<UInt64(Limits.invitesPerRoom)).map { RoomEvent.inviteCreated(.giving(id: id(1000 + $0))) }
      return room(facts, .createInvite(.giving()))
    },
  ]

  /// Dave, who has left, comes back by the invite.
  private static func accepting(_ later: [RoomEvent]) -> Rejection? {
    room([.memberLeft(dave)] + later, .acceptInvite(link), .user(dave))
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
