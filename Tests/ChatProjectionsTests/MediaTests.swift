import ChatDomain
import ChatPrimitives
import GRDB
import Testing

@testable import ChatProjections

@Suite("Who may see a medium, and which one nothing holds")
struct MediaTests {
  private let alice: UserID = .numbered(1)
  private let bob: UserID = .numbered(2)
  private let carol: UserID = .numbered(3)
  private let room: RoomID = .numbered(9)
  private let guild: WorkspaceID = .numbered(8)
  private let cat: MediaID = .numbered(20)
  private let message: MessageID = .numbered(30)

  private let content = Media(
    hash: [UInt8](repeating: 7, count: 32), contentType: "image/png", size: 5, width: 2, height: 3)

  /// Alice has uploaded the cat and created a room with Bob. Carol is not a member.
  private var script: EventScript {
    var script = EventScript()
    for (user, name) in [(alice, "alice"), (bob, "bob"), (carol, "carol")] { script.register(user, name) }
    script.create(room, by: alice)
    script.room(room, .members(.added(bob, role: .member)), by: alice)
    script.user(alice, .media(.uploaded(cat, content, name: "cat.png")))
    return script
  }

  private func holding(_ media: MediaID...) -> MessageContent {
    MessageContent(
      text: "look",
      details: MessageDetails(attachments: media.map { Attachment(media: $0, content: content, name: nil) }))
  }

  private func send(_ message: MessageID, _ script: inout EventScript, thread: ThreadLocation? = nil) {
    script.room(room, .messages(.sent(message, author: alice, thread: thread, holding(cat, cat))), by: alice)
  }

  /// Checks which of the three users see the cat, and whether anything refers to it.
  private func expect(
    _ script: EventScript, seenBy users: [UserID], isHeld: Bool, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let queue = try build(MediaProjection.self, script.events)
    try queue.read { (database) throws in
      let queries = MediaQueries(database)
      let seeing = try [alice, bob, carol].filter { try queries.media(cat, for: $0) != nil }
      #expect(seeing == users, sourceLocation: sourceLocation)
      #expect(try queries.unused([content.hash]).isEmpty == isHeld, sourceLocation: sourceLocation)
    }
    for batch in [1, 3] {
      #expect(try dump(build(MediaProjection.self, script.events, batch: batch)) == dump(queue))
    }
  }

  @Test("an upload is visible with all fields to its uploader and to services")
  func upload() throws {
    try expect(script, seenBy: [alice], isHeld: false)
    let queue = try build(MediaProjection.self, script.events)
    try queue.read { (database) throws in
      let queries = MediaQueries(database)
      let row = try #require(try queries.media(cat, for: nil))
      #expect(row.uploader == alice && row.content == content && row.name == "cat.png")
      #expect(row.uploaded.position == LogPosition(7))
      #expect(try queries.media(.numbered(21), for: nil) == nil)
      #expect(try queries.unused([[1, 2]]) == [[1, 2]])
    }
  }

  @Test("the first upload counts")
  func repeated() throws {
    var script = script
    script.user(alice, .media(.uploaded(cat, content, name: "other.png")))
    let queue = try build(MediaProjection.self, script.events)
    #expect(try queue.read { try MediaQueries($0).media(cat, for: alice) }?.name == "cat.png")
  }

  @Test("members see the files of the room's messages until they leave, are removed or are banned")
  func members() throws {
    var sent = script
    send(message, &sent)
    try expect(sent, seenBy: [alice, bob], isHeld: true)
    for departure in [RoomEvent.members(.left(bob)), .members(.removed(bob)), .members(.banned(bob))] {
      var left = sent
      left.room(room, departure, by: alice)
      try expect(left, seenBy: [alice], isHeld: true)
      left.room(room, .members(.joined(bob, role: .member, invite: nil)), by: bob)
      left.room(room, .members(.added(carol, role: .member)), by: alice)
      try expect(left, seenBy: [alice, bob, carol], isHeld: true)
    }
  }

  @Test("a message in a thread holds it as well")
  func thread() throws {
    var script = script
    script.send(to: room, by: alice, firstID: 40)
    send(
      message, &script,
      thread: ThreadLocation(root: ThreadRoot(message: .numbered(40), ordinal: 1), rootAuthor: alice, ordinal: 1))
    try expect(script, seenBy: [alice, bob], isHeld: true)
    script.room(room, .messages(.deleted(message, at: MessageLocation(thread: 1, ordinal: 1))), by: alice)
    try expect(script, seenBy: [alice], isHeld: false)
  }

  @Test("a deleted message holds nothing; another one still does")
  func deletion() throws {
    var script = script
    send(message, &script)
    send(.numbered(31), &script)
    script.room(room, .messages(.deleted(message, at: .room(1))), by: alice)
    try expect(script, seenBy: [alice, bob], isHeld: true)
    script.room(room, .messages(.edited(.numbered(31), at: .room(2), .plain("edited"))), by: alice)
    try expect(script, seenBy: [alice, bob], isHeld: true)
    script.room(room, .messages(.deleted(.numbered(31), at: .room(2))), by: alice)
    try expect(script, seenBy: [alice], isHeld: false)
  }

  @Test("a reported message still holds its files after its deletion, only as evidence")
  func evidence() throws {
    var script = script
    func isEvidence() throws -> Bool {
      try build(MediaProjection.self, script.events).read { try MediaQueries($0).isKeptByReportsOnly(content.hash) }
    }
    send(message, &script)
    #expect(try !isEvidence())
    let reported = ReportedMessage(id: message, author: alice, sentAt: script.last.time, content: holding(cat))
    let report = Report(subject: .message(reported), reason: .hate, comment: "")
    script.room(room, .reports(.filed(.numbered(60), reporter: bob, report)), by: bob)
    #expect(try !isEvidence())
    script.room(room, .messages(.deleted(message, at: .room(1))), by: alice)
    #expect(try isEvidence())
    try expect(script, seenBy: [alice], isHeld: true)
    script.user(carol, .account(.profileChanged(ProfileEdit(picture: .set(cat)))))
    #expect(try !isEvidence())
    script.user(carol, .account(.profileChanged(ProfileEdit(picture: .remove))))
    script.room(room, .lifecycle(.deleted), by: alice)
    #expect(try isEvidence())
    try expect(script, seenBy: [alice], isHeld: true)
  }

  @Test("a message whose content was erased holds nothing, and an erased upload is not there")
  func erasure() throws {
    var script = script
    script.room(room, .messages(.sent(message, author: alice, thread: nil, nil)), by: alice)
    try expect(script, seenBy: [alice], isHeld: false)
    var other = EventScript()
    other.register(alice, "alice")
    other.create(room, by: alice)
    other.user(alice, .erased(kind: 40))
    send(message, &other)
    try expect(other, seenBy: [], isHeld: false)
  }

  @Test("a deleted room holds nothing, an archived one does")
  func rooms() throws {
    var script = script
    send(message, &script)
    script.room(room, .lifecycle(.edited(RoomEdit(picture: .set(cat)))), by: alice)
    script.room(room, .lifecycle(.archived), by: alice)
    try expect(script, seenBy: [alice, bob], isHeld: true)
    script.room(room, .lifecycle(.deleted), by: alice)
    try expect(script, seenBy: [alice], isHeld: false)
  }

  @Test("the files of a deleted room are invisible immediately, and their rows are deleted in steps")
  func clearing() throws {
    var script = script
    for number in 0..<20 { send(.numbered(UInt64(100 + number)), &script) }
    script.room(room, .lifecycle(.deleted), by: alice)
    let queue = try build(MediaProjection.self, Array(script.events.dropLast()))
    try queue.write { (database) throws in
      var projection = MediaProjection()
      try projection.apply(script.events.suffix(1), to: database)
      func rows() throws -> Int {
        let sql = "SELECT (SELECT COUNT(*) FROM attachment) + (SELECT COUNT(*) FROM member)"
        return try Int.fetchOne(database, sql: sql) ?? -1
      }
      #expect(try rows() == 22)
      var left = 22
      repeat {
        #expect(try MediaQueries(database).media(cat, for: bob) == nil)
        #expect(try left - rows() <= 8)
        left = try rows()
      } while try BulkDeletion.step(MediaProjection.bulkDeletedRows, database, rows: 8)
      #expect(try rows() == 0)
      #expect(try MediaQueries(database).unused([content.hash]) == [content.hash])
    }
  }

  @Test("everybody sees a user's picture, until it is another or none")
  func userPicture() throws {
    let edits: [(PictureEdit?, Bool)] = [
      (.remove, false), (.set(.numbered(21)), false), (.set(cat), true), (nil, true),
    ]
    for (next, isHeld) in edits {
      var script = script
      script.user(alice, .account(.profileChanged(ProfileEdit(picture: .set(cat)))))
      try expect(script, seenBy: [alice, bob, carol], isHeld: true)
      script.user(alice, .account(.profileChanged(ProfileEdit(nickname: "a", picture: next))))
      try expect(script, seenBy: isHeld ? [alice, bob, carol] : [alice], isHeld: isHeld)
    }
  }

  @Test("the room's members see its picture, until it is another or none")
  func roomPicture() throws {
    for (edit, isHeld) in [(PictureEdit?.none, true), (.remove, false), (.set(.numbered(21)), false)] {
      var script = script
      script.room(room, .lifecycle(.edited(RoomEdit(picture: .set(cat)))), by: alice)
      try expect(script, seenBy: [alice, bob], isHeld: true)
      script.room(room, .lifecycle(.edited(RoomEdit(name: "tea", picture: edit))), by: alice)
      try expect(script, seenBy: isHeld ? [alice, bob] : [alice], isHeld: isHeld)
    }
  }

  @Test("a public channel's picture is seen by the workspace's members, and not by its guests")
  func channelPicture() throws {
    for isPublic in [true, false] {
      var script = script
      let channel: RoomID = .numbered(10)
      for (user, role) in [(bob, WorkspaceRole.guest), (carol, .member)] {
        script.add(.workspace(guild, .members(.joined(user, role: role, by: .service))))
      }
      script.room(
        channel,
        .lifecycle(
          .created(RoomCreation(kind: .channel, name: "c", creator: alice, workspace: guild, isPublic: isPublic))))
      script.room(channel, .lifecycle(.edited(RoomEdit(picture: .set(cat)))), by: alice)
      try expect(script, seenBy: isPublic ? [alice, carol] : [alice], isHeld: true)
      script.add(.workspace(guild, .members(.roleChanged(bob, .member))))
      script.add(.workspace(guild, .members(.left(carol))))
      try expect(script, seenBy: isPublic ? [alice, bob] : [alice], isHeld: true)
    }
  }

  @Test("a workspace's picture is its members', and goes with it")
  func workspacePicture() throws {
    var script = script
    script.add(.workspace(guild, .members(.joined(bob, role: .guest, by: .service))))
    script.add(.workspace(guild, .lifecycle(.edited(WorkspaceEdit(picture: .set(cat))))))
    try expect(script, seenBy: [alice, bob], isHeld: true)
    script.add(.workspace(guild, .members(.roleChanged(carol, .member))))
    try expect(script, seenBy: [alice, bob], isHeld: true)
    script.add(.workspace(guild, .lifecycle(.deleted)))
    try expect(script, seenBy: [alice], isHeld: false)
  }

  @Test("a scheduled message holds it for its author alone, until it is sent or cancelled")
  func scheduled() throws {
    var waiting = script
    waiting.room(
      room,
      .scheduling(
        .scheduled(
          message, ScheduledMessage(author: bob, content: holding(cat), sendAt: Timestamp(milliseconds: 1)))), by: bob)
    try expect(waiting, seenBy: [alice, bob], isHeld: true)
    waiting.room(room, .scheduling(.changed(message, ScheduledMessageEdit(text: "never mind"))), by: bob)
    try expect(waiting, seenBy: [alice, bob], isHeld: true)
    for end in [
      RoomEvent.scheduling(.cancelled(message)),
      .messages(.sent(message, author: bob, thread: nil, .plain("erased since"))),
    ] {
      var ended = waiting
      ended.room(room, end, by: bob)
      try expect(ended, seenBy: [alice], isHeld: false)
    }
    var failed = waiting
    failed.room(room, .scheduling(.failed(message, .silenced)), by: bob)
    try expect(failed, seenBy: [alice, bob], isHeld: true)
    for number in 1...UInt64(Limits.scheduledMessagesPerUserAndRoom) {
      let other: MessageID = .numbered(1_000 + number)
      failed.room(
        room,
        .scheduling(
          .scheduled(
            other, ScheduledMessage(author: bob, content: holding(.numbered(21)), sendAt: Timestamp(milliseconds: 1)))),
        by: bob)
      if number == UInt64(Limits.scheduledMessagesPerUserAndRoom) {
        try expect(failed, seenBy: [alice, bob], isHeld: true)
      }
      failed.room(room, .scheduling(.failed(other, .silenced)), by: bob)
    }
    try expect(failed, seenBy: [alice], isHeld: false)
    waiting.room(room, .members(.left(bob)), by: bob)
    try expect(waiting, seenBy: [alice, bob], isHeld: true)
    waiting.room(room, .members(.added(carol, role: .member)), by: alice)
    send(message, &waiting)
    try expect(waiting, seenBy: [alice, carol], isHeld: true)
  }
}
