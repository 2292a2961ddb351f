import ChatDomain
import ChatPrimitives
import Foundation
import Testing

@testable import ChatService

@Suite("Identities")
struct IdentityTests {
  @Test("two first logins at once make one account")
  func firstLogins() async throws {
    let fixture = try await ServiceFixture()
    let chat = fixture.chat
    let identity = Identity(issuer: "https://id.example.org", subject: "a")
    let users = try await withThrowingTaskGroup(of: UserID.self) { group in
      for number in 0..<32 as Range<UInt64> {
        group.addTask {
          try await chat.startSession(
            .given(fixed(100 + number)), as: identity, nickname: "Anna", newUser: fixed(200 + number), device: nil
          ).user
        }
      }
      return try await group.reduce(into: Set<UserID>()) { $0.insert($1) }
    }
    #expect(users.count == 1)
    let externals = try await withThrowingTaskGroup(of: UserID.self) { group in
      for number in 0..<32 as Range<UInt64> {
        group.addTask { try await chat.user(withTokenOf: "crm-1", nickname: nil, newUser: fixed(300 + number)) }
      }
      return try await group.reduce(into: Set<UserID>()) { $0.insert($1) }
    }
    #expect(externals.count == 1)
    try fixture.close()
  }

  @Test(
    "a nickname from elsewhere is cut between characters",
    arguments: [
      (nil, "New user"), ("", "New user"), (" \n", "New user"), ("\u{200b}", "New user"),
      ("A\u{202e}nn\u{0}a", "Anna"), ("\u{200f}", "New user"), ("Anna", "Anna"),
      (String(repeating: "n", count: 128), String(repeating: "n", count: 128)),
      (String(repeating: "n", count: 129), String(repeating: "n", count: 128)),
      (String(repeating: "\u{d55c}", count: 43), String(repeating: "\u{d55c}", count: 42)),
    ] as [(String?, String)])
  func nicknames(given: String?, fitted: String) {
    #expect(ChatService.fitted(given) == fitted)
  }

  @Test(
    "a guest makes no room and no workspace unless it may, and asks again for one that it made",
    arguments: [false, true])
  func guests(mayCreate: Bool) async throws {
    let fixture = try await ServiceFixture(
      keepsDirectory: true, rules: AccountRules(allowsGuests: true, guestsCreateRooms: mayCreate))
    let (guest, asGuest) = (fixed(1) as UserID, Principal(user: fixed(1)))
    let account = ChatService.NewAccount(
      id: guest, nickname: "Guest", email: nil, password: "red kettle on the hob", externalID: nil)
    _ = try await fixture.chat.register(account, by: Principal())
    let room = ChatCommand.Operation.room(
      fixed(10), .lifecycle(.create(RoomCreation(kind: .group, name: "tea", creator: guest))))
    let workspace = ChatCommand.Operation.workspace(
      fixed(11), .lifecycle(.create(WorkspaceCreation(name: "guild", creator: guest))))
    for operation in [room, workspace] {
      let refused = await rejection { _ = try await fixture.chat.perform(ChatService.Request(asGuest, operation)) }
      #expect(refused == (mayCreate ? nil : .guestNotAllowed))
    }
    try fixture.close()
    // After the operator forbids this to guests, a repeated request still succeeds if the first one did.
    let later = try await ServiceFixture(directory: fixture.directory, rules: AccountRules(allowsGuests: true))
    for operation in [room, workspace] {
      let again = await rejection { _ = try await later.chat.perform(ChatService.Request(asGuest, operation)) }
      #expect(again == (mayCreate ? nil : .guestNotAllowed))
    }
    try later.close()
  }

  @Test("a reset token identifies its user and version, and other tokens are refused")
  func resetTokens() {
    let tokens = PasswordResetTokens(ServerKeys(secret: Array(repeating: 1, count: 32)))
    let reset = PasswordReset(user: fixed(1), version: 3, expiresAt: Timestamp(milliseconds: 1_800_000_000_000))
    let token = tokens.token(for: reset)
    #expect(tokens.reset(in: token) == reset)
    #expect(PasswordResetTokens(ServerKeys(secret: Array(repeating: 2, count: 32))).reset(in: token) == nil)
    for length in 0..<token.count { #expect(tokens.reset(in: String(token.prefix(length))) == nil) }
    let bytes = Base64URL.decode(token.dropFirst(PasswordResetTokens.prefix.count), atMost: 1_000) ?? []
    for index in bytes.indices {
      var forged = bytes
      forged[index] ^= 1
      #expect(tokens.reset(in: PasswordResetTokens.prefix + Base64URL.encode(forged)) == nil)
    }
  }

  @Test("a reset is valid for an hour, and a repeat of it always")
  func resetExpires() async throws {
    let fixture = try await ServiceFixture()
    let chat = fixture.chat
    let alice = try await fixture.user(1)
    let tokens = PasswordResetTokens(chat.keys)
    func token(_ milliseconds: Int64, version: UInt32) -> String {
      tokens.token(
        for: PasswordReset(
          user: alice, version: version, expiresAt: ChatService.now().adding(milliseconds: milliseconds)))
    }
    let refused = await #expect(throws: ServiceError.self) {
      _ = try await chat.resetPassword(token: token(-1, version: 0), to: "kettle hob")
    }
    guard case .invalid(.passwordResetExpired) = refused else {
      Issue.record("an expired token came to \(String(describing: refused))")
      return
    }
    let (first, _) = try await chat.resetPassword(token: token(60_000, version: 0), to: "kettle hob")
    #expect(first.isNew)
    let (again, _) = try await chat.resetPassword(token: token(-60_000, version: 0), to: "kettle hob")
    #expect(!again.isNew && again.stamp == first.stamp)
    let expiry = try await chat.passwordReset(of: alice).expiresAt
    let left = expiry.milliseconds - ChatService.now().milliseconds
    #expect((Limits.passwordResetMilliseconds - 5000...Limits.passwordResetMilliseconds).contains(left))
    try fixture.close()
  }

  @Test("disabling and enabling are applied in the log's order, in whatever order they arrive")
  func gate() {
    func recorded(_ event: UserEvent, at position: UInt64) -> RecordedEvent {
      RecordedEvent(
        stamp: Stamp(position: LogPosition(position), time: Timestamp(milliseconds: 0)), version: .none, actor: nil,
        service: nil, device: nil, command: nil, originalTime: nil, event: .user(fixed(1), event))
    }
    let (disabled, enabled) = (recorded(.account(.disabled), at: 5), recorded(.account(.enabled), at: 6))
    for order in [[disabled, enabled], [enabled, disabled]] {
      let gate = SessionGate(lifetimeMilliseconds: 1000)
      for event in order { gate.take([event]) }
      #expect(!gate.isDisabled(fixed(1)))
    }
    let gate = SessionGate(lifetimeMilliseconds: 1000)
    gate.take([disabled])
    #expect(gate.isDisabled(fixed(1)) && !gate.isDisabled(fixed(2)))
  }

  @Test(
    "an ended session is forgotten when its access tokens have expired, and not before",
    arguments: [(1, false), (2, true)] as [(Int64, Bool)])
  func forgottenSessions(milliseconds: Int64, isForgotten: Bool) async throws {
    let user: UserID = fixed(1)
    let gate = SessionGate(lifetimeMilliseconds: 1)
    let time = Timestamp(milliseconds: 1_800_000_000_000)
    let sessions = (0..<300 as Range<UInt64>).map { fixed(1_000 + $0) as SessionID }
    for session in sessions { gate.enter(session, of: user, at: time) }
    // According to the monotonic clock, the tokens have expired in both cases.
    try await Task.sleep(for: .milliseconds(5))
    // Entering other sessions drops the expired ones, after 256 entries at most.
    let later = (0..<256 as Range<UInt64>).map { fixed(2_000 + $0) as SessionID }
    for session in later { gate.enter(session, of: user, at: time.adding(milliseconds: milliseconds)) }
    let known = sessions.filter { gate.isEnded($0, of: user) }
    #expect(known.count == (isForgotten ? 0 : sessions.count))
    #expect(later.allSatisfy { gate.isEnded($0, of: user) })
  }

  @Test("a token that several devices hold leaves all of them, and the order of what is known does not matter")
  func tokenPlaces() {
    let token = PushToken(provider: .apns, token: "a1")
    let devices = [
      DeviceReference(user: fixed(1), device: fixed(11)), DeviceReference(user: fixed(1), device: fixed(12)),
      DeviceReference(user: fixed(2), device: fixed(10)),
    ]
    var (forward, backward) = (PushTokenHolders(), PushTokenHolders())
    for device in devices { forward.set([token], of: device) }
    for device in devices.reversed() { backward.set([token], of: device) }
    #expect(forward == backward && forward.devices(holding: token) == devices)
    forward.remove(token, from: devices[0])
    forward.remove(token, from: devices[0])
    forward.set([], of: devices[1])
    #expect(forward.devices(holding: token) == [devices[2]])
    #expect(forward.devices(holding: PushToken(provider: .fcm, token: "a1")).isEmpty)
    forward.set([PushToken(provider: .fcm, token: "b")], of: devices[2])
    #expect(forward.devices(holding: token).isEmpty)
    forward.set([], of: devices[2])
    #expect(forward == PushTokenHolders())
  }
}
