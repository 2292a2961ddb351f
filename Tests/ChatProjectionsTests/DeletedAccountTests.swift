import ChatDomain
import ChatPrimitives
import GRDB
import Testing

@testable import ChatProjections

/// What the read models have of a user whose account was deleted.
@Suite struct DeletedAccountTests {
  private static let (alice, bob): (UserID, UserID) = (.numbered(1), .numbered(2))
  private static let room: RoomID = .numbered(9)
  private static let picture: MediaID = .numbered(30)
  private static let (first, second): (MessageID, MessageID) = (.numbered(100), .numbered(101))
  private static let (third, reply): (MessageID, MessageID) = (.numbered(102), .numbered(103))
  private static let later: MessageID = .numbered(104)
  private static let thread = ThreadLocation(
    root: ThreadRoot(message: second, ordinal: 2), rootAuthor: bob, ordinal: 1)
  private static let secret = "Alice's secret"

  /// Alice does something in every read model and deletes her account. Then the server deletes what she wrote.
  private static let history: [RecordedEvent] = {
    var script = EventScript()
    script.register(bob, "bob")
    script.register(alice, secret)
    let media = Media(hash: [UInt8](repeating: 7, count: 32), contentType: "image/png", size: 5)
    for event in [
      .media(.uploaded(picture, media, name: secret)), .account(.profileChanged(ProfileEdit(picture: .set(picture)))),
      .account(.profileChanged(ProfileEdit(custom: "\"\(secret)\""))),
      .account(.emailSet("\(secret)@example.org")),
      .logins(.identityLinked(Identity(issuer: "https://id.example.org", subject: secret))),
      .account(.preferencesSet(PreferencesEdit(sharesReadMarkers: false))),
      .devices(
        .registered(.numbered(20), DeviceDescription(name: secret, type: nil, osVersion: nil, tokens: []))),
      .sessions(.started(.numbered(21), device: .numbered(20))),
    ] as [UserEvent] {
      script.user(alice, event, command: .numbered(40))
    }
    script.create(room, by: bob)
    script.room(room, .members(.added(alice, role: .member)), by: bob)
    script.user(alice, .account(.profileChanged(ProfileEdit(nickname: "\(secret), once more"))))
    // Bob's phone is Alice's now. Earlier versions recorded the token.
    let token = PushToken(provider: .fcm, token: "a token")
    script.user(
      bob,
      .devices(
        .registered(.numbered(22), DeviceDescription(name: nil, type: nil, osVersion: nil, tokens: [token]))))
    script.add(.user(bob, .devices(.tokenMoved(.numbered(22), token))), actor: alice)
    let tokens = [token, PushToken(provider: .apns, token: "another")]
    script.user(
      bob,
      .devices(.updated(.numbered(22), DeviceDescription(name: nil, type: nil, osVersion: nil, tokens: tokens))))
    script.add(.user(bob, .devices(.tokenTaken(.numbered(22), .fcm))), actor: alice)
    let waiting = ScheduledMessage(
      author: alice, content: .plain(secret), sendAt: Timestamp(milliseconds: 2_000_000_000_000))
    let details = MessageDetails(
      mentions: Mentions(users: [bob]), attachments: [Attachment(media: picture, content: media, name: secret)],
      custom: CustomPart(type: "tea.ready", body: "1"))
    for (event, author) in [
      (.messages(.sent(first, author: alice, thread: nil, MessageContent(text: secret, details: details))), alice),
      (.messages(.edited(first, at: .room(1), .plain("\(secret), edited"))), alice),
      (.messages(.sent(second, author: bob, thread: nil, .plain("Bob stays"))), bob),
      (.annotations(.reactionAdded(second, at: .room(2), by: alice, emoji: ":\(secret):")), alice),
      (.annotations(.reactionAdded(second, at: .room(2), by: alice, emoji: "👍")), alice),
      (.annotations(.reactionAdded(second, at: .room(2), by: bob, emoji: "👍")), bob),
      (.annotations(.reactionAdded(second, at: .room(2), by: alice, emoji: "🎉")), alice),
      (.annotations(.reactionRemoved(second, at: .room(2), by: alice, emoji: "🎉")), alice),
      (.messages(.sent(reply, author: alice, thread: thread, .plain(secret))), alice),
      (.messages(.edited(reply, at: thread.location, .plain("\(secret), edited"))), alice),
      (.scheduling(.scheduled(later, waiting)), alice),
      (.scheduling(.cancelled(later)), alice),
      (.messages(.sent(third, author: alice, thread: nil, .plain(secret))), alice),
      (.messages(.edited(third, at: .room(3), .plain("\(secret), edited"))), alice),
      (.reports(.filed(.numbered(50), reporter: alice, .of(bob, saying: secret))), alice),
    ] as [(RoomEvent, UserID)] {
      script.room(room, event, by: author, command: .numbered(41))
    }
    script.room(room, .members(.left(alice)), by: alice)
    for event in [
      .sessions(.ended(.numbered(21), .accountDeleted)), .devices(.removed(.numbered(20))), .deletion(.deleted),
    ] as [UserEvent] {
      script.user(alice, event)
    }
    script.room(room, .messages(.deleted(first, at: .room(1))))
    script.room(room, .messages(.deleted(reply, at: thread.location)))
    script.room(room, .messages(.deleted(third, at: .room(3))))
    script.room(room, .annotations(.reactionRemoved(second, at: .room(2), by: alice, emoji: "")))
    return script.events
  }()

  /// The same history after the payloads were erased from the log.
  private static let erased: [RecordedEvent] = history.map { recorded in
    guard recorded.actor == alice else { return recorded }
    let event: ChatEvent =
      switch recorded.event {
      // `ErasedReplies` restores the thread.
      case .room(let room, .messages(.sent(let id, let author, let thread, _))):
        .room(room, .messages(.sent(id, author: author, thread: thread, nil)))
      case .room(let room, .scheduling(.scheduled(let id, _))): .room(room, .scheduling(.scheduled(id, nil)))
      case .user(let user, .devices(.tokenMoved(let device, _))): .user(user, .devices(.tokenMoved(device, nil)))
      case .room(let room, .messages(.edited)), .room(let room, .annotations(.reactionAdded)),
        .room(let room, .annotations(.reactionRemoved)):
        .room(room, .erased(kind: 131))
      case .room(let room, .reports(.filed(let id, let reporter, _))):
        .room(room, .reports(.filed(id, reporter: reporter, nil)))
      case .user(_, .deletion), .user(_, .devices(.removed)), .user(_, .devices(.tokenTaken)): recorded.event
      case .user(let user, _): .user(user, .erased(kind: 1))
      case .room, .workspace, .server: recorded.event
      }
    return RecordedEvent(
      stamp: recorded.stamp, version: recorded.version, actor: recorded.actor, service: recorded.service,
      device: recorded.device, command: recorded.command, originalTime: recorded.originalTime, event: event)
  }

  private static let compared: [any Projection.Type] = [
    AccountsProjection.self, RoomsProjection.self, TimelineProjection.self, IDIndexProjection.self,
    MediaProjection.self, UsageProjection.self, SearchProjection.self,
  ]

  @Test("a rebuild from a log without the payloads gives the same rows")
  func sameAfterErasure() throws {
    for projection in Self.compared {
      let before = try dump(build(projection, Self.history), projection)
      let after = try dump(build(projection, Self.erased), projection)
      #expect(Set(before.keys) == Set(after.keys))
      for (table, rows) in before { #expect(after[table] == rows, "\(projection.name), \(table)") }
    }
  }

  @Test("no row has anything that the user chose")
  func nothingIsLeft() throws {
    for projection in Self.compared {
      for (table, rows) in try dump(build(projection, Self.history), projection) {
        for value in rows.joined() {
          let text = String.fromDatabaseValue(value) ?? ""
          #expect(!text.contains(Self.secret), "\(projection.name), \(table)")
        }
      }
    }
  }

  @Test("others see a deleted user, and their own words")
  func othersSee() throws {
    try build(TimelineProjection.self, Self.history).read { (database) throws in
      let page = try TimelineQueries(database).messages(of: Self.room, thread: 0, 1...2)
      #expect(page.map(\.text) == ["", "Bob stays"])
      #expect(page.first?.deletedAt != nil && page.first?.editedAt == nil)
      #expect(try Profiles.profiles(of: [Self.alice], database) == [Self.alice: Profile(nickname: "", picture: nil)])
    }
    try build(AccountsProjection.self, Self.history).read { (database) throws in
      let accounts = AccountsQueries(database)
      #expect(try accounts.user(Self.alice)?.deleted != nil)
      #expect(try accounts.user(email: "\(Self.secret)@example.org") == nil)
      #expect(try accounts.pendingErasures(after: .origin, limit: 5).map(\.user) == [Self.alice])
      #expect(try accounts.erasures(limit: 5).erasures.map(\.user) == [Self.alice])
    }
  }
}

extension Report {
  fileprivate static func of(_ user: UserID, saying comment: String) -> Report {
    Report(subject: .user(user), reason: .spam, comment: comment)
  }
}
