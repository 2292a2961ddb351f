import ChatDomain
import ChatPrimitives
import GRDB
import Testing

@testable import ChatProjections

@Suite struct BatchTests {
  @Test(
    "the same events give the same rows in every table, however they are cut into batches",
    arguments: Projections.all.map { $0.name })
  func independence(name: String) throws {
    var script = RandomHistory(seed: 21, events: 3000).script
    script.addRowsToEveryTable()
    let projection = try Projections.named(name)
    let whole = try dump(build(projection, script.events, batch: 4096), projection)
    // `filterGeneration` gets its first row only after half a million entries.
    let empty = whole.filter { $0.value.isEmpty && $0.key != "filterGeneration" }.keys.sorted()
    #expect(empty == [], "nothing is compared in these tables")
    #expect(whole["checkpoint"]?.count == 1)
    for batch in [1, 7, 1000] {
      #expect(try dump(build(projection, script.events, batch: batch), projection) == whole, "batches of \(batch)")
    }
  }

  @Test("a batch that does not follow the checkpoint is refused")
  func gap() throws {
    let history = RandomHistory(seed: 22, events: 100)
    let queue = try build(TimelineProjection.self, Array(history.events.prefix(10)))
    var projection = TimelineProjection()
    for events in [Array(history.events[11...20]), Array(history.events[9...20]), []] {
      let error = #expect(throws: ProjectionError.self) {
        try queue.write { (database) throws in
          _ = try ProjectionBatch.apply(events, after: LogPosition(10), with: &projection, to: database)
        }
      }
      #expect(error?.code == .feedGap)
    }
  }

  @Test("an unknown projection's name is refused with the names there are")
  func unknownName() {
    let error = #expect(throws: ProjectionError.self) { try Projections.named("nonsense") }
    #expect(error?.code == .unknownProjection)
    #expect(error?.message.contains("accounts, rooms, timeline, ids, media, usage, search") == true)
  }
}

extension EventScript {
  /// Adds at least one row to every table, with users, a workspace and rooms that no other event names.
  fileprivate mutating func addRowsToEveryTable() {
    let (alice, bob, carol): (UserID, UserID, UserID) = (.numbered(5001), .numbered(5002), .numbered(5003))
    for (user, name) in [(alice, "alice"), (bob, "bob"), (carol, "carol")] { register(user, name) }
    let picture: MediaID = .numbered(5004)
    let media = Media(hash: [UInt8](repeating: 7, count: 32), contentType: "image/png", size: 5)
    let description = DeviceDescription(name: "phone", type: nil, osVersion: nil, tokens: [])
    for event in [
      .media(.uploaded(picture, media, name: nil)), .account(.profileChanged(ProfileEdit(picture: .set(picture)))),
      .logins(.identityLinked(Identity(issuer: "https://id.example.org", subject: "alice"))),
      .account(.preferencesSet(PreferencesEdit(sharesReadMarkers: false))),
      .devices(.registered(.numbered(5005), description)),
      .sessions(.started(.numbered(5006), device: .numbered(5005))), .blocks(.blocked(bob)),
    ] as [UserEvent] {
      user(alice, event)
    }
    add(.server(.signingKeyRotated(generation: 2)))
    add(.server(.legalHoldPlaced(LegalHold(.user(bob), reason: "case 7"))))
    let gone: UserID = .numbered(5030)
    register(gone, "gone")
    user(gone, .deletion(.deleted))
    let workspace = addWorkspace(of: alice, inviting: bob)
    let details = MessageDetails(
      mentions: Mentions(users: [bob]), attachments: [Attachment(media: picture, content: media, name: nil)],
      custom: CustomPart(type: "tea.ready", body: "1"))
    addRoom(in: workspace, of: alice, bob, carol, saying: MessageContent(text: "tea", details: details))
    let deleted: RoomID = .numbered(5007)
    create(deleted, by: alice)
    room(deleted, .lifecycle(.deleted), by: alice)
  }

  private mutating func addWorkspace(of owner: UserID, inviting user: UserID) -> WorkspaceID {
    let workspace: WorkspaceID = .numbered(5010)
    let invite = WorkspaceInvite(
      id: .numbered(5011), tokenHash: [UInt8](repeating: 1, count: 32), role: .member, expiresAt: last.time,
      maximumUses: nil)
    for event in [
      .lifecycle(.created(WorkspaceCreation(name: "office", creator: owner))),
      .members(.joined(owner, role: .owner, by: .service)),
      .sharing(.inviteCreated(invite)), .invitations(.invited(user, role: .member)),
    ] as [WorkspaceEvent] {
      add(.workspace(workspace, event), actor: owner)
    }
    return workspace
  }

  /// Adds a public channel with a thread.
  private mutating func addRoom(
    in workspace: WorkspaceID, of owner: UserID, _ member: UserID, _ leaver: UserID, saying content: MessageContent
  ) {
    let id: RoomID = .numbered(5020)
    let (first, second, reply, later): (MessageID, MessageID, MessageID, MessageID) = (
      .numbered(5021), .numbered(5022), .numbered(5023), .numbered(5024)
    )
    let soon = last.time.adding(milliseconds: 100_000_000)
    let invite = Invite(
      id: .numbered(5025), tokenHash: [UInt8](repeating: 2, count: 32), role: .member, expiresAt: soon,
      maximumUses: nil)
    let thread = ThreadLocation(root: ThreadRoot(message: first, ordinal: 1), rootAuthor: owner, ordinal: 1)
    for event in [
      .lifecycle(
        .created(RoomCreation(kind: .channel, name: "news", creator: owner, workspace: workspace, isPublic: true))),
      .members(.joined(owner, role: .owner, invite: nil)), .members(.added(member, role: .member)),
      .sharing(.inviteCreated(invite)),
      .members(.added(leaver, role: .member)), .members(.silenced(leaver, until: soon)), .members(.left(leaver)),
      .members(.banned(.numbered(5026))), .messages(.sent(first, author: owner, thread: nil, content)),
      .messages(.sent(second, author: owner, thread: nil, .plain("tea"))),
      .messages(.edited(second, at: .room(2), .plain("coffee"))),
      .messages(.sent(reply, author: member, thread: thread, .plain("biscuits"))),
      .annotations(.reactionAdded(first, at: .room(1), by: member, emoji: ":tea:")),
      .annotations(.pinned(first, at: .room(1))),
      .scheduling(.scheduled(later, ScheduledMessage(author: owner, content: content, sendAt: soon))),
    ] as [RoomEvent] {
      room(id, event, by: owner)
    }
    room(
      id, .lifecycle(.edited(RoomEdit(name: "latest news", custom: #"{"color":"red"}"#))), by: owner,
      command: .numbered(5027))
  }
}
