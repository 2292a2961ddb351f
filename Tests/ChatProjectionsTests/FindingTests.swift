import ChatDomain
import ChatPrimitives
import GRDB
import Testing

@testable import ChatProjections

@Suite("users are found by their nicknames and by what they share")
struct FindingTests {
  private let anna = UserID.numbered(1)
  private let tea = RoomID.numbered(9)
  private let guild = WorkspaceID.numbered(20)

  private func nicknames(
    _ script: EventScript, _ beginning: String, by caller: UserID? = nil, limit: Int = 10, examining: Int = 100
  ) throws -> (names: [String], hasMore: Bool) {
    try build(AccountsProjection.self, script.events).read { (database) throws in
      let prefix = try #require(NicknamePrefix(beginning))
      let queries = AccountsQueries(database)
      let found = try queries.users(nickname: prefix, foundBy: caller, limit: limit, examining: examining)
      if !found.hasMore {
        // The other way finds the same users, whatever their order is.
        let everyone = (1...20 as ClosedRange<UInt64>).reversed().map { UserID.numbered($0) }
        #expect(
          try queries.users(nickname: prefix, among: everyone, foundBy: caller, limit: limit) == found)
      }
      return (found.users.map(\.nickname), found.hasMore)
    }
  }

  private func registered(_ nicknames: String...) -> EventScript {
    var script = EventScript()
    for (number, nickname) in zip(1..., nicknames) { script.register(.numbered(UInt64(number)), nickname) }
    return script
  }

  @Test(
    "a nickname is compared without case and diacritics",
    arguments: [
      ("Zoë", "zoe"), ("ZOE\u{308}", "zoe"), ("Σοφός", "σοφοσ"), ("Ёж", "ёж"), ("ＡＢ", "ab"), ("a b", "a b"),
      ("김", "김"), ("100%", "100%"), ("\u{301}", ""),
    ])
  func comparison(nickname: String, compared: String) {
    #expect(NicknameForm.compared(nickname).unicodeScalars.elementsEqual(compared.unicodeScalars))
    #expect((NicknamePrefix(nickname) == nil) == compared.isEmpty)
  }

  @Test("nicknames are in the order of their comparison, and only those with the beginning")
  func order() throws {
    let script = registered("zoë b", "ZOE a", "zo", "bozoe", "zp", "z")
    #expect(try nicknames(script, "ZO").names == ["zo", "ZOE a", "zoë b"])
    #expect(try nicknames(script, "zoe ").names == ["ZOE a", "zoë b"])
    #expect(try nicknames(script, "x").names.isEmpty)
  }

  @Test("a list says when there are more, or when not all nicknames were looked at")
  func limits() throws {
    let script = registered("a1", "a2", "a3")
    for (limit, hasMore) in [(2, true), (3, false), (4, false)] {
      #expect(try nicknames(script, "a", limit: limit) == (["a1", "a2", "a3"].prefix(limit) + [], hasMore))
    }
    for (examining, hasMore) in [(2, true), (3, false), (4, false)] {
      let found = try nicknames(script, "a", examining: examining)
      #expect(found == (["a1", "a2", "a3"].prefix(examining) + [], hasMore))
    }
  }

  @Test("the index follows changes, disabled and deleted accounts")
  func changes() throws {
    var script = registered("anna", "bob", "bea", "bill")
    script.user(.numbered(2), .account(.profileChanged(ProfileEdit(nickname: "Rob"))))
    script.user(.numbered(3), .account(.disabled))
    #expect(try nicknames(script, "b").names == ["bill"])
    #expect(try nicknames(script, "r").names == ["Rob"])
    script.user(.numbered(3), .account(.enabled))
    script.user(.numbered(4), .deletion(.deleted))
    #expect(try nicknames(script, "b").names == ["bea"])
  }

  @Test("a caller does not find themselves, who accepts no direct messages, and with whom there is a block")
  func caller() throws {
    var script = registered("x anna", "x ben", "x cem", "x dora", "x emil")
    script.user(.numbered(2), .blocks(.blocked(anna)))
    script.user(anna, .blocks(.blocked(.numbered(3))))
    script.user(.numbered(4), .account(.preferencesSet(PreferencesEdit(acceptsDirectMessages: false))))
    #expect(try nicknames(script, "x", by: anna).names == ["x emil"])
    #expect(try nicknames(script, "x").names.count == 5)
    script.user(.numbered(2), .blocks(.unblocked(anna)))
    #expect(try nicknames(script, "x", by: anna).names == ["x ben", "x emil"])
  }

  @Test("the members of rooms and workspaces are known if they are few enough", arguments: [5, 6, 7])
  func acquaintances(limit: Int) throws {
    var script = registered("anna", "ben", "cem", "dora")
    script.create(tea, by: anna)
    for other in [2, 3] as [UInt64] { script.room(tea, .members(.added(.numbered(other), role: .member)), by: anna) }
    script.add(.workspace(guild, .lifecycle(.created(WorkspaceCreation(name: "guild", creator: anna)))), actor: anna)
    for member in [1, 3, 4] as [UInt64] {
      script.add(
        .workspace(guild, .members(.joined(.numbered(member), role: .member, by: .service))), actor: .numbered(member))
    }
    try build(RoomsProjection.self, script.events).read { (database) throws in
      let found = try RoomsQueries(database).acquaintances(of: anna, limit: limit)
      #expect(found == (limit < 6 ? nil : [.numbered(2), .numbered(3), .numbered(4)]))
    }
  }

  @Test("users share a room or a workspace until one leaves it or it is deleted")
  func sharing() throws {
    var script = registered("anna", "ben", "cem", "dora")
    let others = [2, 3, 4].map { UserID.numbered($0) }
    func sharing(limit: Int = 10, examining: Int = 100) throws -> (found: [UserID], isComplete: Bool) {
      try build(RoomsProjection.self, script.events).read { (database) throws in
        try RoomsQueries(database).sharing(with: anna, among: others, limit: limit, examining: examining)
      }
    }
    #expect(try sharing() == ([], true))
    script.create(tea, by: anna)
    script.room(tea, .members(.added(others[0], role: .member)), by: anna)
    script.add(.workspace(guild, .lifecycle(.created(WorkspaceCreation(name: "guild", creator: anna)))), actor: anna)
    for member in [anna, others[2]] {
      script.add(.workspace(guild, .members(.joined(member, role: .member, by: .service))), actor: member)
    }
    #expect(try sharing() == ([others[0], others[2]], true))
    #expect(try sharing(limit: 1) == ([others[0]], false))
    // Ben's one membership is read before the limit is reached.
    #expect(try sharing(examining: 1) == ([others[0]], false))
    script.room(tea, .lifecycle(.deleted), by: anna)
    #expect(try sharing() == ([others[2]], true))
    script.add(.workspace(guild, .members(.left(anna))), actor: anna)
    #expect(try sharing() == ([], true))
  }

  @Test("a guest of a workspace knows nobody in it, and the members know the guest")
  func guests() throws {
    var script = registered("anna", "guest")
    let guest = UserID.numbered(2)
    script.add(.workspace(guild, .lifecycle(.created(WorkspaceCreation(name: "guild", creator: anna)))), actor: anna)
    for (member, role) in [(anna, WorkspaceRole.owner), (guest, .guest)] {
      script.add(.workspace(guild, .members(.joined(member, role: role, by: .service))), actor: member)
    }
    func expect(guestKnowsAnna: Bool) throws {
      try build(RoomsProjection.self, script.events).read { (database) throws in
        let queries = RoomsQueries(database)
        for (user, other, isKnown) in [(anna, guest, true), (guest, anna, guestKnowsAnna)] {
          let expected = isKnown ? [other] : []
          #expect(try queries.acquaintances(of: user, limit: 100) == Set(expected))
          #expect(try queries.sharing(with: user, among: [other], limit: 1, examining: 100).found == expected)
        }
      }
    }
    try expect(guestKnowsAnna: false)
    script.add(.workspace(guild, .members(.roleChanged(guest, .member))), actor: anna)
    try expect(guestKnowsAnna: true)
    script.add(.workspace(guild, .members(.roleChanged(guest, .guest))), actor: anna)
    script.create(tea, by: anna)
    script.room(tea, .members(.added(guest, role: .member)), by: anna)
    try expect(guestKnowsAnna: true)
  }
}
