import ChatDomain
import ChatPrimitives
import GRDB
import Testing

@testable import ChatProjections

@Suite("accounts notes which of a user's own entities changed, and where")
struct AccountChangeTests {
  private let alice = UserID.numbered(1)
  private let bob = UserID.numbered(2)
  private let device = DeviceID.numbered(3)
  private let session = SessionID.numbered(4)
  private let token = PushToken(provider: .fcm, token: "t")

  private func changes(
    _ script: EventScript, after start: ChangeStart = .after(.origin), limit: Int = 100
  ) throws
    -> [Change]
  {
    try build(AccountsProjection.self, script.events).read { (database) throws in
      try AccountsQueries(database).changes(of: alice, after: start, through: script.last.position, limit: limit)
    }
  }

  @Test("each event notes the entities that it changes")
  func events() throws {
    let description = DeviceDescription(name: "phone", type: nil, osVersion: nil, tokens: [token])
    let identity = Identity(issuer: "https://id.example.org", subject: "alice")
    let media = Media(hash: [UInt8](repeating: 7, count: 32), contentType: "image/png", size: 5)
    let expected: [(UserEvent, ChangeType?)] = [
      (.account(.profileChanged(ProfileEdit(nickname: "al"))), .account),
      (.account(.emailSet("al@example.org")), .account),
      (.account(.preferencesSet(PreferencesEdit(sharesReadMarkers: false))), .preferences),
      (.logins(.identityLinked(identity)), .account),
      (.account(.disabled), .account), (.account(.enabled), .account),
      (.devices(.registered(device, description)), .device), (.devices(.updated(device, description)), .device),
      (.devices(.tokenInvalidated(device, token)), .device), (.devices(.tokenTaken(device, .fcm)), .device),
      (.devices(.tokenMoved(device, token)), .device),
      (.sessions(.started(session, device: device)), .session),
      (.sessions(.refreshed(session, generation: 2)), .session),
      (.sessions(.ended(session, .loggedOut)), .session), (.devices(.removed(device)), .device),
      (.blocks(.blocked(bob)), .blockedUser), (.blocks(.unblocked(bob)), .blockedUser),
      (.media(.uploaded(.numbered(9), media, name: nil)), nil),
    ]
    let ids: [ChangeType: UUIDBytes] = [
      .account: alice.uuid, .preferences: alice.uuid, .device: device.uuid, .session: session.uuid,
      .blockedUser: bob.uuid,
    ]
    var script = EventScript()
    script.register(alice, "alice")
    #expect(try changes(script) == [])
    for (event, type) in expected {
      let before = script.last.position
      script.user(alice, event)
      // What another user does is not noted here.
      script.user(bob, event)
      let found = try changes(script, after: .after(before))
      let entity = type.map { ChangedEntity(type: $0, id: ids[$0] ?? .zero) }
      #expect(found.map(\.entity) == [entity].compactMap { $0 }, "\(event)")
      #expect(found.allSatisfy { $0.position == LogPosition(before.value + 1) })
    }
    // One row for each entity, however often it changed; a removed one keeps it.
    #expect(try changes(script).map(\.entity.type) == [.preferences, .account, .session, .device, .blockedUser])
  }

  @Test("the end of a session that never started is not noted")
  func absentSession() throws {
    let key = CommandID.numbered(7)
    var script = EventScript()
    script.register(alice, "alice")
    let start = script.last.position
    script.user(alice, .sessions(.ended(UserDecider.absentSession(for: key), .loggedOut)), command: key)
    #expect(try changes(script, after: .after(start)) == [])
    script.user(alice, .sessions(.ended(session, .loggedOut)), command: key)
    #expect(try changes(script, after: .after(start)).map(\.entity.id) == [session.uuid])
  }

  @Test("pages may end after any change")
  func pages() throws {
    var script = EventScript()
    script.register(alice, "alice")
    for event in [
      .account(.enabled), .blocks(.blocked(bob)), .account(.preferencesSet(PreferencesEdit(sharesReadMarkers: true))),
    ] as [UserEvent] {
      script.user(alice, event)
    }
    let whole = try changes(script)
    #expect(whole.count == 3)
    for size in 1...2 {
      var found: [Change] = []
      while true {
        let page = try changes(script, after: found.last.map { .after($0) } ?? .after(.origin), limit: size)
        if page.isEmpty { break }
        found += page
      }
      #expect(found == whole)
    }
  }
}
