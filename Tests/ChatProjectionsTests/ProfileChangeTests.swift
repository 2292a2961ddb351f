import ChatDomain
import ChatPrimitives
import GRDB
import Testing

@testable import ChatProjections

@Suite("rooms notes new profiles and hidden markers where the user is a member")
struct ProfileChangeTests {
  private let owner = UserID.numbered(1)
  private let bob = UserID.numbered(2)
  private let tea = RoomID.numbered(9)
  private let guild = WorkspaceID.numbered(20)
  private let nickname = UserEvent.account(.profileChanged(ProfileEdit(nickname: "robert")))
  private let hiding = UserEvent.account(.preferencesSet(PreferencesEdit(sharesReadMarkers: false)))

  /// Bob is a member of `tea` and `guild`.
  private func history() -> EventScript {
    var script = EventScript()
    script.register(owner, "al")
    script.register(bob, "bob")
    script.create(tea, by: owner)
    script.room(tea, .members(.added(bob, role: .member)), by: owner)
    script.add(.workspace(guild, .lifecycle(.created(WorkspaceCreation(name: "guild", creator: owner)))), actor: owner)
    script.add(.workspace(guild, .members(.joined(owner, role: .owner, by: .service))), actor: owner)
    script.add(.workspace(guild, .members(.joined(bob, role: .member, by: .service))), actor: owner)
    return script
  }

  private func changes(_ scope: ChangeScope, _ type: ChangeType, _ queue: DatabaseQueue) throws -> [Change] {
    try queue.read { (database) throws in
      try RoomsQueries(database).changes(
        in: scope, after: .after(.origin), through: LogPosition(UInt64(Int64.max)), limit: 1_000)
    }.filter { $0.entity.type == type }
  }

  @Test(
    "a new nickname or picture changes what is in the room and in the workspace, not the room as it is shown",
    arguments: [
      ProfileEdit(nickname: "robert"), ProfileEdit(picture: .set(.numbered(30))), ProfileEdit(picture: .remove),
      ProfileEdit(custom: "{}"),
    ])
  func profiles(edit: ProfileEdit) throws {
    var script = history()
    let before = script.last.position
    let position = script.user(bob, .account(.profileChanged(edit))).position
    let queue = try build(RoomsProjection.self, script.events)
    let change = Change(entity: ChangedEntity(type: .user, id: bob.uuid), position: position)
    #expect(try changes(.room(tea), .user, queue) == [change])
    #expect(try changes(.workspace(guild), .user, queue) == [change])
    try queue.read { (database) throws in
      let room = try #require(try RoomsQueries(database).room(tea))
      #expect(room.changed == position)
      #expect(room.shown <= before)
      #expect(try RoomsQueries(database).member(owner, of: tea)?.tracked?.changed == position)
    }
  }

  @Test("a page shows the nickname and the picture of now, each of which stays when the other changes")
  func shownProfiles() throws {
    var script = history()
    let picture = MediaID.numbered(30)
    var expected = Profile(nickname: "bob")
    func check() throws {
      try build(RoomsProjection.self, script.events).read { (database) throws in
        #expect(try RoomsQueries(database).profiles(of: [bob]) == [bob: expected])
      }
      try build(TimelineProjection.self, script.events).read { (database) throws in
        #expect(try TimelineQueries(database).profiles(of: [bob]) == [bob: expected])
      }
    }
    try check()
    let edits = [
      ProfileEdit(picture: .set(picture)), ProfileEdit(nickname: "robert"), ProfileEdit(picture: .remove),
      ProfileEdit(nickname: "rob", picture: .set(picture)),
    ]
    for edit in edits {
      script.user(bob, .account(.profileChanged(edit)))
      if let nickname = edit.nickname { expected.nickname = nickname }
      if let change = edit.picture { expected.picture = change.media }
      try check()
    }
  }

  @Test("hidden markers, and markers that are shown again, are noted; a preference that stays is not")
  func markers() throws {
    var script = history()
    var noted: LogPosition?
    for (shares, isChange) in [(true, false), (false, true), (false, false), (true, true)] {
      let event = UserEvent.account(.preferencesSet(PreferencesEdit(sharesReadMarkers: shares)))
      let position = script.user(bob, event).position
      if isChange { noted = position }
      let queue = try build(RoomsProjection.self, script.events)
      let found = try changes(.room(tea), .readMarker, queue)
      #expect(found.map(\.position) == [noted].compactMap { $0 })
      #expect(found.allSatisfy { $0.entity.id == bob.uuid })
    }
  }

  @Test("the 64 rooms and workspaces that the user joined last are noted", arguments: [63, 64, 65] as [UInt64])
  func limit(spaces: UInt64) throws {
    var script = EventScript()
    for number in 1...spaces {
      let (room, workspace) = (RoomID.numbered(1_000 + number), WorkspaceID.numbered(2_000 + number))
      script.create(room, by: owner)
      script.room(room, .members(.added(bob, role: .member)), by: owner)
      script.add(
        .workspace(workspace, .lifecycle(.created(WorkspaceCreation(name: "guild", creator: owner)))), actor: owner)
      script.add(.workspace(workspace, .members(.joined(bob, role: .member, by: .service))), actor: owner)
    }
    script.user(bob, nickname)
    let queue = try build(RoomsProjection.self, script.events)
    for number in 1...spaces {
      let isNoted = spaces - number < 64
      #expect(try changes(.room(.numbered(1_000 + number)), .user, queue).isEmpty == !isNoted)
      #expect(try changes(.workspace(.numbered(2_000 + number)), .user, queue).isEmpty == !isNoted)
    }
  }

  @Test("a room that was left or deleted is not noted, also if that was in the same batch")
  func formerRooms() throws {
    let (left, deleted) = (RoomID.numbered(10), RoomID.numbered(11))
    var script = history()
    for room in [left, deleted] {
      script.create(room, by: owner)
      script.room(room, .members(.added(bob, role: .member)), by: owner)
    }
    script.room(left, .members(.left(bob)), by: bob)
    script.room(deleted, .lifecycle(.deleted), by: owner)
    script.user(bob, nickname)
    let queue = try build(RoomsProjection.self, script.events)
    #expect(try changes(.room(tea), .user, queue).count == 1)
    for room in [left, deleted] { #expect(try changes(.room(room), .user, queue).isEmpty) }
  }

  @Test("the tables do not depend on where a batch ends")
  func batches() throws {
    var script = history()
    for number in 1...4 as ClosedRange<UInt64> {
      script.send(Int(number), to: tea, by: number % 2 == 0 ? owner : bob, firstID: 100 * number)
      script.user(bob, number % 2 == 0 ? nickname : hiding)
      script.create(.numbered(100 + number), by: bob)
    }
    script.room(tea, .members(.left(bob)), by: bob)
    script.user(bob, .account(.profileChanged(ProfileEdit(nickname: "rob"))))
    func tables(batchOf size: Int) throws -> [String: [Row]] {
      try build(RoomsProjection.self, script.events, batch: size).read { (database) throws in
        let names = ["room", "member", "change", "badge", "ordinalSet", "profile"]
        return try Dictionary(
          uniqueKeysWithValues: names.map { ($0, try Row.fetchAll(database, sql: "SELECT * FROM \($0)")) })
      }
    }
    let whole = try tables(batchOf: script.events.count)
    #expect(whole["change"]?.isEmpty == false)
    for size in 1...5 { #expect(try tables(batchOf: size) == whole) }
  }
}
