import ChatDomain
import ChatPrimitives
import GRDB
import Testing

@testable import ChatProjections

@Suite struct WorkspaceQueriesTests {
  private let owner: UserID = .numbered(1)
  private let member: UserID = .numbered(2)
  private let guest: UserID = .numbered(3)
  private let stranger: UserID = .numbered(4)
  private let office: WorkspaceID = .numbered(80)

  private func script() -> EventScript {
    var script = EventScript()
    script.add(
      .workspace(office, .lifecycle(.created(WorkspaceCreation(name: "office", creator: owner)))), actor: owner)
    for (user, role) in [(owner, WorkspaceRole.owner), (member, .member), (guest, .guest)] {
      script.add(.workspace(office, .members(.joined(user, role: role, by: .service))), actor: user)
    }
    for (number, isPublic) in [(90, true), (91, false), (92, true), (93, false)] as [(UInt64, Bool)] {
      let channel: RoomID = .numbered(number)
      script.room(
        channel,
        .lifecycle(
          .created(
            RoomCreation(
              kind: .channel, name: "\(number)", creator: owner, workspace: office, isPublic: isPublic, topic: "news"))),
        by: owner)
      script.room(channel, .members(.joined(owner, role: .owner, invite: nil)), by: owner)
      script.send(2, to: channel, by: owner, firstID: 100)
    }
    script.room(.numbered(93), .members(.added(guest, role: .member)), by: owner)
    return script
  }

  @Test("members find public channels and their own, guests only their own, strangers none", arguments: [1, 2, 30])
  func channels(limit: Int) throws {
    let queue = try build(RoomsProjection.self, script().events)
    func found(by user: UserID) throws -> [RoomID]? {
      var (rooms, next): ([RoomID], LogPosition?) = ([], nil)
      repeat {
        let page = try queue.read { try RoomsQueries($0).channels(of: office, for: user, after: next, limit: limit) }
        guard let page else { return nil }
        rooms += page.rooms.map(\.room.id)
        next = page.next
      } while next != nil
      return rooms
    }
    #expect(try found(by: owner) == [.numbered(90), .numbered(91), .numbered(92), .numbered(93)])
    #expect(try found(by: member) == [.numbered(90), .numbered(92)])
    #expect(try found(by: guest) == [.numbered(93)])
    #expect(try found(by: stranger) == nil)
  }

  @Test("a user who can only find a channel sees its name, topic and picture, and no messages")
  func visible() throws {
    try build(RoomsProjection.self, script().events).read { (database) throws in
      let queries = RoomsQueries(database)
      let row = try #require(try queries.visibleRoom(.numbered(90), for: member))
      #expect(row.room.name == "90" && row.room.topic == "news" && row.room.workspace == office && row.room.isPublic)
      #expect(row.member == nil && row.room.lastMessage == nil && row.unreadCount == 0)
      #expect(try queries.visibleRoom(.numbered(90), for: owner)?.room.lastMessage?.text == "text 101")
      for (room, user) in [(91, member), (90, guest), (90, stranger)] as [(UInt64, UserID)] {
        #expect(try queries.visibleRoom(.numbered(room), for: user) == nil)
      }
      #expect(try queries.administers(.numbered(90), member) == nil)
      #expect(try queries.administers(.numbered(90), owner) == true)
      #expect(try queries.administers(.numbered(93), guest) == false)
      #expect(try queries.administers(.numbered(91), member) == nil)
    }
  }

  @Test("a workspace is listed with the role in it and how many it has; a deleted one is not")
  func lists() throws {
    var script = script()
    let queue = try build(RoomsProjection.self, script.events)
    func mine(_ user: UserID) throws -> [String] {
      try queue.read { try RoomsQueries($0).workspaces(of: user, limit: 30).workspaces }
        .map { "\($0.workspace.name) \($0.member.role.name) \($0.workspace.memberCount)" }
    }
    #expect(try mine(guest) == ["office guest 3"])
    #expect(try mine(stranger) == [])
    let before = script.events.count
    script.add(
      .workspace(office, .lifecycle(.edited(WorkspaceEdit(name: "home", topic: "us", picture: .set(.numbered(7)))))))
    script.add(.workspace(office, .members(.left(guest))), actor: guest)
    script.add(.workspace(office, .members(.left(guest))), actor: guest)
    try apply(RoomsProjection.self, script.events, from: before, to: queue)
    #expect(try mine(member) == ["home member 2"])
    #expect(try mine(guest) == [])
    let row = try queue.read { try RoomsQueries($0).workspace(office) }
    #expect(row?.topic == "us" && row?.picture == .numbered(7))
    let last = script.events.count
    script.add(.workspace(office, .lifecycle(.deleted)), actor: owner)
    try apply(RoomsProjection.self, script.events, from: last, to: queue)
    #expect(try mine(owner) == [])
    #expect(try queue.read { try RoomsQueries($0).member(owner, of: office) == nil })
    #expect(try queue.read { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM workspaceMember") } == 0)
  }

  @Test("an invitation is open until it is accepted or declined, and never for a member")
  func invitations() throws {
    var script = script()
    script.add(.workspace(office, .invitations(.invited(stranger, role: .guest))), actor: owner)
    script.add(.workspace(office, .invitations(.invited(member, role: .guest))), actor: owner)
    let queue = try build(RoomsProjection.self, script.events)
    func mine(_ user: UserID) throws -> [InvitationRow] {
      try queue.read { try RoomsQueries($0).invitations(of: user, limit: 30).invitations }
    }
    #expect(try mine(stranger).map(\.role) == [.guest] && mine(stranger).map(\.inviter) == [owner])
    #expect(try mine(member) == [])
    #expect(try queue.read { try RoomsQueries($0).invitations(into: office, limit: 30).invitations } == mine(stranger))
    let before = script.events.count
    script.add(.workspace(office, .members(.joined(stranger, role: .guest, by: .invitation))), actor: stranger)
    try apply(RoomsProjection.self, script.events, from: before, to: queue)
    #expect(try mine(stranger) == [])
  }
}
