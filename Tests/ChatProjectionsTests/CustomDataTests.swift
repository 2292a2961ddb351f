import ChatDomain
import ChatPrimitives
import GRDB
import Testing

@testable import ChatProjections

/// The data that apps store with profiles and rooms.
@Suite struct CustomDataTests {
  private let alice = UserID.numbered(1)
  private let tea = RoomID.numbered(9)

  @Test("the data of a profile is replaced as a whole, stays when something else changes, and can be removed")
  func profile() throws {
    var script = EventScript()
    script.register(alice, "alice")
    func expect(_ expected: String?, after edit: ProfileEdit) throws {
      let stamp = script.user(alice, .account(.profileChanged(edit)))
      try build(AccountsProjection.self, script.events).read { (database) throws in
        let row = try #require(try AccountsQueries(database).user(alice))
        #expect(row.custom == expected)
        #expect(row.revision == stamp.position)
      }
    }
    try expect(nil, after: ProfileEdit(custom: ""))
    try expect(#"{"team":1}"#, after: ProfileEdit(custom: #"{"team":1}"#))
    try expect(#"{"team":1}"#, after: ProfileEdit(nickname: "al"))
    try expect("[]", after: ProfileEdit(picture: .remove, custom: "[]"))
    try expect(nil, after: ProfileEdit(custom: ""))
  }

  @Test("the data of a room is shown with it, and its bytes count for a page")
  func room() throws {
    var script = EventScript()
    script.register(alice, "alice")
    script.create(tea, by: alice)
    func expect(_ expected: String?, after edit: RoomEdit) throws {
      let stamp = script.room(tea, .lifecycle(.edited(edit)), by: alice)
      for batch in [1, 4096] {
        try build(RoomsProjection.self, script.events, batch: batch).read { (database) throws in
          let queries = RoomsQueries(database)
          let row = try #require(try queries.roomListRow(tea, for: alice))
          #expect(row.custom == expected)
          #expect(try queries.bareRoom(tea)?.custom == expected)
          #expect(row.room.revision == stamp.position && row.room.shown == stamp.position)
          var bare = row
          bare.custom = nil
          #expect(row.contentBytes - bare.contentBytes == expected?.utf8.count ?? 0)
        }
      }
    }
    try expect(#"{"color":"red"}"#, after: RoomEdit(custom: #"{"color":"red"}"#))
    try expect(#"{"color":"red"}"#, after: RoomEdit(topic: "green"))
    try expect("7", after: RoomEdit(name: "tea", custom: "7"))
    try expect(nil, after: RoomEdit(custom: ""))
  }

  @Test("a room can have data from its creation")
  func creation() throws {
    var script = EventScript()
    let creation = RoomCreation(kind: .group, name: "tea", creator: alice, custom: "7")
    script.room(tea, .lifecycle(.created(creation)), by: alice)
    script.room(tea, .members(.joined(alice, role: .owner, invite: nil)), by: alice)
    for batch in [1, 4096] {
      try build(RoomsProjection.self, script.events, batch: batch).read { (database) throws in
        #expect(try RoomsQueries(database).roomListRow(tea, for: alice)?.custom == "7")
      }
    }
    script.room(tea, .lifecycle(.edited(RoomEdit(custom: ""))), by: alice)
    try build(RoomsProjection.self, script.events).read { (database) throws in
      #expect(try RoomsQueries(database).roomListRow(tea, for: alice)?.custom == nil)
    }
  }

  @Test("badges need no data of rooms")
  func counts() throws {
    var script = EventScript()
    script.create(tea, by: alice)
    script.room(tea, .lifecycle(.edited(RoomEdit(custom: "7"))), by: alice)
    let queue = try DatabaseQueue()
    try queue.write { database in
      try RoomsProjection.createTables(database)
      try RoomsProjection.createIndexes(database)
      var projection = RoomsProjection(.counts)
      try projection.apply(script.events[...], to: database)
      #expect(try RoomsQueries(database).roomListRow(tea, for: alice)?.custom == nil)
    }
  }
}
