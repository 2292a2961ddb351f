import ChatDomain
import ChatPrimitives
import ChatProjections
import Testing

@testable import ChatService

@Suite("Unique names")
struct UniqueNamesTests {
  @Test("is compared by bytes: two spellings of one text are two external IDs, as in the read models")
  func comparesBytes() async throws {
    let fixture = try await ServiceFixture()
    let (composed, decomposed) = ("caf\u{e9}", "cafe\u{301}")
    #expect(composed == decomposed)
    for (number, externalID) in [(1, composed), (2, decomposed)] as [(UInt64, String)] {
      _ = try await fixture.register(fixed(number), externalID: externalID)
    }
    #expect(await rejection { _ = try await fixture.register(fixed(3), externalID: composed) } == .externalIDInUse)
    #expect(try await fixture.chat.user(withExternalID: composed)?.id == fixed(1))
    #expect(try await fixture.chat.user(withExternalID: decomposed)?.id == fixed(2))
    try fixture.close()
  }

  @Test("an identity is compared by bytes: two spellings of one subject or issuer are logins of two users")
  func identities() {
    let spellings = ["caf\u{e9}", "cafe\u{301}"]
    let identities = spellings.flatMap { spelling in
      [Identity(issuer: "https://\(spelling)", subject: "1"), Identity(issuer: "https://id", subject: spelling)]
    }
    var names = UniqueNames()
    for (number, identity) in zip(UInt64(1)..., identities) {
      #expect(names.user(with: identity) == nil)
      names.take(.user(fixed(number), .logins(.identityLinked(identity))))
    }
    for (number, identity) in zip(UInt64(1)..., identities) { #expect(names.user(with: identity) == fixed(number)) }
    names.take(.user(fixed(1), .logins(.identityUnlinked(identities[0], linked: .first))))
    #expect(names.user(with: identities[0]) == nil && names.user(with: identities[2]) == fixed(3))
  }

  @Test("an e-mail address is compared in one form, and a log that has it in two keeps both accounts")
  func emailForms() {
    let (composed, decomposed) = ("caf\u{e9}@example.org", "cafe\u{301}@example.org")
    #expect(Array(composed.utf8) != Array(decomposed.utf8))
    var holders = EmailHolders()
    #expect(holders.user(withEmail: composed) == nil)
    holders.enter(decomposed, of: fixed(2))
    #expect(holders.user(withEmail: composed) == fixed(2))
    holders.enter(composed, of: fixed(1))
    #expect(holders.user(withEmail: decomposed) == fixed(1))
    // A user who changes the address leaves the old one to the other user.
    holders.enter("other@example.org", of: fixed(1))
    #expect(holders.user(withEmail: composed) == fixed(2))
    #expect(holders.user(withEmail: "other@example.org") == fixed(1))
    holders.enter("third@example.org", of: fixed(2))
    #expect(holders.user(withEmail: composed) == nil)
    // The state does not depend on the order in which a read model returns the users.
    var (one, other) = (EmailHolders(), EmailHolders())
    for user in [fixed(1), fixed(2), fixed(3)] as [UserID] { one.enter(composed, of: user) }
    for user in [fixed(3), fixed(1), fixed(2)] as [UserID] { other.enter(decomposed, of: user) }
    #expect(one == other)
  }

  @Test("an invite's ID is unique in its room alone: in two rooms it has two tokens, each good for its own")
  func inviteInTwoRooms() async throws {
    let fixture = try await ServiceFixture()
    let chat = fixture.chat
    let (alice, bob) = (try await fixture.user(1), try await fixture.user(2))
    let by = Principal(user: alice)
    let rooms: [RoomID] = [fixed(10), fixed(11)]
    for room in rooms {
      _ = try await chat.performRoom(
        room, .lifecycle(.create(RoomCreation(kind: .group, name: "tea", creator: alice))), by: by)
      _ = try await chat.createInvite(
        ChatService.NewInvite(id: fixed(12), role: .member), for: room, by: by)
    }
    let tokens = rooms.map { chat.token(of: fixed(12), in: $0) }
    #expect(tokens[0] != tokens[1])
    let joined = try await chat.acceptInvite(.token(tokens[1]), by: Principal(user: bob), command: nil)
    #expect(joined.room == rooms[1])
    #expect(await rejection { _ = try await chat.room(rooms[0], for: bob) } == .roomNotFound)
    #expect(try await chat.acceptInvite(.token(tokens[0]), by: Principal(user: bob), command: nil).room == rooms[0])
    try fixture.close()
  }

  @Test("a malformed registration is refused before its password is hashed")
  func formBeforeHash() async throws {
    // scrypt rejects this cost parameter, so a request that reaches hashing gets no `Rejection`.
    let fixture = try await ServiceFixture(passwordLogRounds: 0)
    await #expect(throws: ServiceError.self) { _ = try await fixture.chat.register(account(), by: Self.service) }
    #expect(await rejection { _ = try await fixture.chat.register(account(), by: Self.service) } == nil)
    let wrong: [(ChatService.NewAccount, Rejection)] = [
      (account(nickname: ""), .nicknameEmpty), (account(email: "alice"), .emailMalformed),
      (account(email: nil), .credentialIncomplete), (account(externalID: ""), .externalIDMalformed),
    ]
    for (account, expected) in wrong {
      #expect(await rejection { _ = try await fixture.chat.register(account, by: Self.service) } == expected)
    }
    try fixture.close()
  }

  private static let service = Principal(service: ServiceFixture.service)

  private func account(
    nickname: String = "Alice", email: String? = "alice@example.org", externalID: String? = nil
  ) -> ChatService.NewAccount {
    ChatService.NewAccount(
      id: fixed(1), nickname: nickname, email: email, password: "red kettle on the hob", externalID: externalID)
  }
}
