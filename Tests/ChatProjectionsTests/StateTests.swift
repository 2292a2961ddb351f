import ChatDomain
import ChatPrimitives
import GRDB
import Testing

@testable import ChatProjections

@Suite struct StateTests {
  @Test("the restored decision state equals the evolved one", arguments: [31, 32, 33] as [UInt64])
  func restored(seed: UInt64) async throws {
    let history = RandomHistory(seed: seed, events: 5000)
    let feed = MemoryFeed(history.events)
    try await withModels(TemporaryFolder(), feed) { (models) throws in
      let source = DecisionStateSource(models)
      let (users, rooms) = (try source.users(), try source.rooms())
      #expect(users.position == feed.head && rooms.position == feed.head)
      let endings = try await self.endings(of: history, models)
      for user in history.userIDs {
        // Ended sessions are not restored, but they are found when they are looked up.
        var state = users.states[user] ?? .absent
        for case .session(user, let session) in endings.keys {
          state = state.adding(endings[.session(user, session)], of: session)
        }
        #expect(state == history.users[user], "user, seed \(seed)")
      }
      for (room, state) in history.rooms {
        let restored = rooms.states[room] ?? RoomState(endings[.room(room)])
        #expect(restored == state && (rooms.states[room] == nil) == (state.ending != nil), "room, seed \(seed)")
      }
      let workspaces = try source.workspaces().states
      for (workspace, state) in history.workspaces {
        let restored = workspaces[workspace]?.0 ?? WorkspaceState(endings[.workspace(workspace)])
        #expect(restored == state, "workspace, seed \(seed)")
      }
      #expect(workspaces.count == 1 && history.workspaces.count == 2)
      #expect(endings[.room(history.doomedRoom)] != nil && endings[.workspace(history.doomedWorkspace)] != nil)
      #expect(users.states.count == history.users.count && rooms.states.count < history.rooms.count)
      let versions = try source.userVersions().merging(source.roomVersions()) { first, _ in first }
        .merging(workspaces.map { ($0.key.uuid, $0.value.1) }) { first, _ in first }
      var counted: [UUIDBytes: StreamVersion] = [:]
      var keys = SigningKeyHistory()
      for recorded in history.events {
        switch recorded.event {
        case .user(let id, _): counted[id.uuid] = recorded.version
        case .room(let id, .lifecycle(.deleted)): counted[id.uuid] = nil
        case .workspace(let id, .lifecycle(.deleted)): counted[id.uuid] = nil
        case .room(let id, _): counted[id.uuid] = recorded.version
        case .workspace(let id, _): counted[id.uuid] = recorded.version
        case .server(let event):
          counted[.zero] = recorded.version
          if case .signingKeyRotated(let generation) = event { keys.rotate(to: generation, at: recorded.stamp) }
        }
      }
      #expect(versions == counted && counted[.zero] != nil)
      #expect(try source.signingKeys() == keys && keys.current > SigningKeyHistory.first)
    }
  }

  /// Looks up everything in the history that may have ended.
  private func endings(of history: RandomHistory, _ models: ReadModels) async throws -> [EndingKey: Ending] {
    var keys = history.rooms.keys.map { EndingKey.room($0) } + history.workspaces.keys.map { .workspace($0) }
    for (user, state) in history.users {
      guard case .registered(let known) = state else { continue }
      keys += known.sessions.keys.map { .session(user, $0) }
    }
    let result = try await models.endings(of: keys)
    #expect(result.position == history.events.last?.position)
    return result.endings
  }

  @Test("accounts answer by ID, e-mail, external ID, session and device")
  func accounts() throws {
    let history = RandomHistory(seed: 34, events: 6000)
    let queue = try build(AccountsProjection.self, history.events)
    try queue.read { (database) throws in
      let queries = AccountsQueries(database)
      let (first, second) = (history.userIDs[0], history.userIDs[1])
      #expect(try queries.user(externalID: "external-1")?.id == second)
      #expect(try queries.user(email: "nobody@example.org") == nil)
      guard case .registered(let state) = history.users[first], let email = state.email else {
        Issue.record("the first user has no e-mail address")
        return
      }
      #expect(try queries.user(email: email)?.id == first)
      #expect(try queries.credential(of: first) == state.credential && state.credential != nil)
      for (identity, stamp) in state.identities {
        #expect(try queries.user(with: identity)?.id == first)
        #expect(try queries.identities(of: first).contains(IdentityRow(identity: identity, linked: stamp)))
      }
      #expect(try queries.user(first)?.nickname == state.profile.nickname)
      let sessions = try queries.sessions(of: first)
      #expect(Set(sessions.map(\.id)) == Set(state.sessions.keys))
      #expect(try queries.openSessions(of: first) == sessions.filter { $0.end == nil })
      let devices = try queries.devices(of: first)
      #expect(Set(devices.map(\.id)) == Set(state.devices.keys))
      for device in devices {
        #expect(device.description == state.devices[device.id]?.description)
        #expect(try queries.device(device.id, of: first) == device)
      }
    }
  }

  @Test("an e-mail address is found in any case and form; of two accounts that have it, each by its own form")
  func emailForms() throws {
    let users: [UserID] = [.numbered(1), .numbered(2)]
    let (composed, decomposed) = ("caf\u{e9}@example.org", "cafe\u{301}@example.org")
    var script = EventScript()
    for (user, email) in zip(users, [decomposed, composed]) {
      script.user(
        user,
        .account(
          .registered(
            Registration(nickname: "Anna", email: email, externalID: nil, credential: nil, commitmentKey: [1]))))
    }
    try build(AccountsProjection.self, script.events).read { (database) throws in
      let queries = AccountsQueries(database)
      #expect(try queries.user(email: "CAFE\u{301}@example.org")?.id == users[0])
      #expect(try queries.user(email: "caf\u{c9}@Example.org")?.id == users[1])
    }
    script.user(users[1], .account(.emailSet("other@example.org")))
    try build(AccountsProjection.self, script.events).read { (database) throws in
      #expect(try AccountsQueries(database).user(email: composed)?.id == users[0])
      #expect(try AccountsQueries(database).user(email: "other@example.org")?.id == users[1])
    }
  }

  @Test("a device is known by any session that named it")
  func devicesOfSessions() throws {
    let (user, other): (UserID, UserID) = (.numbered(1), .numbered(2))
    var script = EventScript()
    for each in [user, other] { script.register(each, "\(each)") }
    script.user(user, .sessions(.started(.numbered(3), device: .numbered(4))))
    script.user(user, .sessions(.ended(.numbered(3), .loggedOut)))
    try build(AccountsProjection.self, script.events).read { (database) throws in
      let queries = AccountsQueries(database)
      #expect(try queries.hasSession(of: user, on: .numbered(4)))
      #expect(try !queries.hasSession(of: user, on: .numbered(5)))
      #expect(try !queries.hasSession(of: other, on: .numbered(4)))
    }
  }

  @Test("invites are found by their token's hash, with uses and revocation")
  func invites() throws {
    let history = RandomHistory(seed: 35, events: 4000)
    let queue = try build(RoomsProjection.self, history.events)
    try queue.read { (database) throws in
      let queries = RoomsQueries(database)
      for (id, state) in history.rooms {
        // The rows of a deleted room are removed gradually.
        guard let room = state.room else { continue }
        let invites = try queries.invites(of: id, before: nil, limit: .max)
        #expect(invites.count == room.invites.count)
        for row in invites {
          let expected = room.invites[row.invite.id]
          #expect(row.invite == expected?.invite && row.uses == expected?.uses && row.revoked == expected?.revoked)
          for hash in row.invite.hashes { #expect(try queries.invite(hash: hash) == row) }
        }
      }
      #expect(try queries.invite(hash: [1, 2, 3]) == nil)
    }
  }

  @Test("room lists and member lists come in pages that together hold each once, in order", arguments: [1, 2, 30])
  func pages(limit: Int) throws {
    let history = RandomHistory(seed: 36, events: 3000, users: 12, rooms: 9)
    let queue = try build(RoomsProjection.self, history.events)
    try queue.read { (database) throws in
      let queries = RoomsQueries(database)
      let user = history.userIDs[2]
      var (rooms, next): ([RoomListRow], LogPosition?) = ([], nil)
      repeat {
        let page = try queries.roomList(of: user, after: next, limit: limit)
        rooms += page.rooms
        next = page.next
      } while next != nil
      let expected = history.rooms.filter {
        if case .open(let room) = $0.value { room.members[user] != nil } else { false }
      }
      #expect(Set(rooms.map(\.room.id)) == Set(expected.keys) && rooms.count == expected.count)
      #expect(rooms.map(\.room.activity) == rooms.map(\.room.activity).sorted(by: >))
      for row in rooms {
        #expect(row.unreadCount == history.unread(user, in: row.room.id))
        #expect(row.room.memberCount == UInt64(expected[row.room.id]?.room?.members.count ?? 0))
      }
      let room = history.roomIDs[0]
      var members: [MemberRow] = []
      repeat {
        let page = try queries.members(of: room, after: next, limit: limit)
        members += page.members
        next = page.next
      } while next != nil
      #expect(Set(members.map(\.user)) == Set(history.rooms[room]?.room?.members.users ?? [:].keys))
      #expect(members.map(\.joined.position) == members.map(\.joined.position).sorted())
    }
  }
}
