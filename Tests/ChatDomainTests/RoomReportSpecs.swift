import ChatDomain
import ChatPrimitives
import Testing

@Suite("Reports of messages and members")
struct RoomReportSpecs {
  /// Dave's message is at position 6.
  private let room = teaRoom + [.messages(.sent(hello, author: dave, thread: nil, .plain("hello")))]

  private func given(_ later: RoomEvent...) -> Given<RoomDecider> {
    ChatDomainTests.given(RoomDecider.self, room + later).knowing(hello, .of(dave, at: 6))
      .knowingContent(hello, .plain("hello"))
  }

  /// The room with a report by carol about dave, which is at position 7.
  private func reported(_ later: RoomEvent..., known: KnownReport? = nil) -> Given<RoomDecider> {
    ChatDomainTests.given(RoomDecider.self, room + [.reported()] + later).knowing(complaint, known ?? .of(at: 7))
  }

  private func hellosReport(_ content: MessageContent? = .plain("hello")) -> RoomEvent {
    let message = ReportedMessage(id: hello, author: dave, sentAt: Stamp.at(6).time, content: content)
    return .reports(
      .filed(complaint, reporter: carol, Report(subject: .message(message), reason: .spam, comment: "ads")))
  }

  @Test("a member can report a message, with its content, or another member")
  func filing() {
    given().when(.report(hello, comment: "ads"), by: .user(carol)).thenRecorded(hellosReport())
    given().when(.report(hello, comment: "ads"), by: .service(for: carol)).thenRecorded(hellosReport())
    given().when(.report(user: dave), by: .user(carol)).thenRecorded(.reported())
  }

  @Test("a deleted message is reported with the content that was found, or without any")
  func deleted() {
    let deleted = given().knowing(hello, .of(dave, at: 6, deletedAt: 7))
    deleted.when(.report(hello, comment: "ads"), by: .user(carol)).thenRecorded(hellosReport())
    let gone = ChatDomainTests.given(RoomDecider.self, room).knowing(hello, .of(dave, at: 6, deletedAt: 7))
    gone.when(.report(hello, comment: "ads"), by: .user(carol)).thenRecorded(hellosReport(nil))
    gone.when(.report(hello), by: .user(dave)).thenRejected(.forbidden)
    // It was sent after the lookup.
    ChatDomainTests.given(RoomDecider.self, room).knowing(hello, .of(dave, at: 6))
      .when(.report(hello), by: .user(carol)).thenRejected(.messageNotFound)
  }

  @Test("a silenced member can report, and so can members of archived and direct rooms")
  func filingAnywhere() {
    given(.members(.silenced(carol, until: noon.adding(milliseconds: 1)))).when(.report(hello), by: .user(carol))
      .thenAccepted()
    given(.lifecycle(.archived)).when(.report(hello), by: .user(carol)).thenAccepted()
    ChatDomainTests.given(
      RoomDecider.self,
      [
        .lifecycle(.created(.direct(alice, bob))), .members(.joined(alice, role: .member, invite: nil)),
        .members(.added(bob, role: .member)),
      ]
    ).when(.report(user: bob), by: .user(alice)).thenAccepted()
  }

  @Test("only members can report, and only existing messages and members other than themselves")
  func refused() {
    given().when(.report(hello), by: .user(stranger)).thenRejected(.roomNotFound)
    given().when(.report(hello), by: .service()).thenRejected(.forbidden)
    given().when(.report(id(41)), by: .user(carol)).thenRejected(.messageNotFound)
    given().when(.report(hello), by: .user(dave)).thenRejected(.forbidden)
    given().when(.report(user: dave), by: .user(dave)).thenRejected(.forbidden)
    given().when(.report(user: stranger), by: .user(carol)).thenRejected(.memberNotFound)
    given(.members(.left(dave))).when(.report(user: dave), by: .user(carol)).thenRejected(.memberNotFound)
    given(.lifecycle(.deleted)).when(.report(hello), by: .user(carol)).thenRejected(.roomNotFound)
  }

  @Test("comments and notes have at most 2,048 bytes", arguments: [0, 2_047, 2_048, 2_049])
  func lengths(bytes: Int) {
    let text = String(repeating: "x", count: bytes)
    let filed = given().when(.report(user: dave, comment: text), by: .user(carol))
    let resolved = reported().when(.resolve(note: text), by: .user(bob))
    if bytes > 2_048 {
      filed.thenRejected(.reportCommentTooLong)
      resolved.thenRejected(.reportNoteTooLong)
    } else {
      filed.thenAccepted()
      resolved.thenAccepted()
    }
  }

  @Test("a repeat is recognised by what the reporter sent, even after the message was deleted")
  func repeats() {
    for known in [KnownReport.of(at: 7), .of(at: 7, revised: 8, isOpen: false)] {
      given().knowing(complaint, known).when(.report(user: dave), by: .user(carol)).thenAlreadyDone(at: 7)
      given().knowing(complaint, known).when(.report(user: dave), by: .user(alice)).thenRejected(.idInUse)
      given().knowing(complaint, known).when(.report(user: dave, comment: "x"), by: .user(carol)).thenRejected(.idInUse)
      given(.members(.left(carol))).knowing(complaint, known).when(.report(user: dave), by: .user(carol))
        .thenRejected(.roomNotFound)
    }
    var known = KnownReport.of(at: 7)
    known.fingerprint = RoomCommand.report(hello).fingerprint(by: carol)
    ChatDomainTests.given(RoomDecider.self, room).knowing(hello, .of(dave, at: 6, deletedAt: 8))
      .knowing(complaint, known).when(.report(hello), by: .user(carol)).thenAlreadyDone(at: 7)
    given().knowing(complaint, .of(nil, at: 7)).when(.report(user: dave), by: .user(carol)).thenRejected(.idInUse)
  }

  @Test("a user can have at most 20 open reports in a room", arguments: [19, 20, 21])
  func limitOfUser(count: UInt64) {
    let open = (0..<count).map { RoomEvent.reported(id: id(1_000 + $0)) }
    let full = ChatDomainTests.given(RoomDecider.self, room + open)
    full.when(.report(user: dave), by: .user(bob)).thenAccepted()
    let outcome = full.when(.report(user: dave), by: .user(carol))
    if count < 20 { return outcome.thenAccepted() }
    outcome.thenRejected(.tooManyReports)
    let resolved = (20...count).map { RoomEvent.resolved(id(980 + $0)) }
    ChatDomainTests.given(RoomDecider.self, room + open + resolved).when(.report(user: dave), by: .user(carol))
      .thenAccepted()
  }

  @Test("a room can have at most 1,000 open reports, which also limits reopening", arguments: [999, 1_000, 1_001])
  func limitOfRoom(count: UInt64) {
    let open = (0..<count).map { RoomEvent.reported(by: id(5_000 + $0), id: id(10_000 + $0)) }
    let full = ChatDomainTests.given(RoomDecider.self, room + open)
      .knowing(complaint, .of(at: 7, revised: 8, isOpen: false))
    let filed = full.when(.report(user: dave, id: id(91)), by: .user(carol))
    let reopened = full.when(.reopen(), by: .user(bob))
    if count < 1_000 {
      filed.thenAccepted()
      reopened.thenAccepted()
    } else {
      filed.thenRejected(.tooManyReports)
      reopened.thenRejected(.tooManyReports)
    }
  }

  @Test("moderators of the room can resolve and reopen a report unless it is about them")
  func moderating() {
    for context: CommandContext in [.user(alice), .user(bob), .service(), .service(for: bob)] {
      reported().when(.resolve(), by: context).thenRecorded(.resolved())
      reported(.resolved(), known: .of(at: 7, revised: 8, isOpen: false)).when(.reopen(), by: context)
        .thenRecorded(.reports(.reopened(complaint, reporter: carol)))
    }
    for command: RoomCommand in [.resolve(), .reopen()] {
      reported().when(command, by: .user(carol)).thenRejected(.forbidden)
      reported().when(command, by: .user(stranger)).thenRejected(.roomNotFound)
      reported(.members(.roleChanged(dave, .administrator))).when(command, by: .user(dave))
        .thenRejected(.reportNotFound)
      reported(.members(.roleChanged(dave, .administrator))).when(command, by: .service(for: dave))
        .thenRejected(.reportNotFound)
      reported(.lifecycle(.deleted)).when(command, by: .user(alice)).thenRejected(.roomNotFound)
    }
    reported().when(.resolve(id(91)), by: .user(bob)).thenRejected(.reportNotFound)
    // Nobody knows whom an erased report is about.
    for command: RoomCommand in [.resolve(), .reopen()] {
      reported(known: .of(nil, at: 7, isOpen: false)).when(command, by: .user(bob)).thenRejected(.reportNotFound)
      reported(known: .of(nil, at: 7, isOpen: false)).when(command, by: .service()).thenAccepted()
      reported(.members(.roleChanged(carol, .administrator)), known: .of(nil, at: 7, isOpen: false))
        .when(command, by: .user(carol)).thenAccepted()
    }
    reported(.lifecycle(.archived)).when(.resolve(), by: .user(bob)).thenAccepted()
  }

  @Test("workspace administrators moderate private channels too; only services moderate direct rooms")
  func moderatingElsewhere() {
    let channel: [RoomEvent] = [
      .lifecycle(.created(.channel(isPublic: false, by: carol))), .members(.joined(carol, role: .owner, invite: nil)),
      .members(.added(dave, role: .member)), .reported(dave, by: carol),
    ]
    let given = ChatDomainTests.given(RoomDecider.self, channel).with(.ofOffice()).knowing(complaint, .of(at: 4))
    given.when(.resolve(), by: .user(alice)).thenAccepted()
    given.when(.resolve(), by: .user(bob)).thenAccepted()
    given.when(.resolve(), by: .user(dave)).thenRejected(.forbidden)
    given.when(.resolve(), by: .user(stranger)).thenRejected(.roomNotFound)
    let direct = ChatDomainTests.given(
      RoomDecider.self,
      [
        .lifecycle(.created(.direct(alice, bob))), .members(.joined(alice, role: .member, invite: nil)),
        .members(.added(bob, role: .member)), .reported(bob, by: alice),
      ]
    ).knowing(complaint, .of(bob, by: alice, at: 4))
    direct.when(.resolve(), by: .user(alice)).thenRejected(.forbidden)
    direct.when(.resolve(), by: .service()).thenAccepted()
  }

  @Test("a repeat is recorded again only under a key; a different resolution replaces the first")
  func again() {
    let key: CommandID = id(70)
    var known = KnownReport.of(at: 7, revised: 8, isOpen: false)
    known.resolution = RoomCommand.resolve().fingerprint(by: bob)
    let resolved = reported(.resolved(), known: known)
    resolved.when(.resolve(), by: .user(alice)).thenAlreadyDone(at: 8)
    resolved.when(.resolve(), by: .user(bob, key: key)).thenRecorded(.resolved())
    for context: CommandContext in [.user(bob), .user(bob, key: key)] {
      resolved.when(.resolve(complaint, .userRemoved), by: context).thenRecorded(.resolved(complaint, .userRemoved))
    }
    known.resolution = nil
    reported(.resolved(), known: known).when(.resolve(), by: .user(bob)).thenAccepted()
    reported().when(.reopen(), by: .user(bob)).thenAlreadyDone(at: 7)
    reported().when(.reopen(), by: .user(bob, key: key))
      .thenRecorded(.reports(.reopened(complaint, reporter: carol)))
  }

  @Test("the state counts the open reports of each reporter, even if payloads were erased")
  func state() throws {
    var state = RoomDecider.initial
    let events: [(RoomEvent, [UserID: Int])] = [
      (.reported(id: id(91)), [carol: 1]), (.reports(.filed(id(92), reporter: carol, nil)), [carol: 2]),
      (.reported(by: bob, id: id(93)), [carol: 2, bob: 1]), (.reports(.resolved(id(91), nil)), [carol: 1, bob: 1]),
      (.resolved(id(91)), [carol: 1, bob: 1]), (.reports(.reopened(id(91), reporter: carol)), [carol: 2, bob: 1]),
      (.reports(.reopened(id(91), reporter: carol)), [carol: 2, bob: 1]), (.resolved(id(93)), [carol: 2]),
    ]
    for (index, event) in room.enumerated() { RoomDecider.evolve(&state, event, .at(UInt64(index) + 1)) }
    for (index, (event, counts)) in events.enumerated() {
      RoomDecider.evolve(&state, event, .at(UInt64(index) + 10))
      let open = try #require(state.room?.openReports)
      #expect(Dictionary(open.values.map { ($0, 1) }, uniquingKeysWith: +) == counts)
    }
  }

  @Test("a command looks up only the keys that it needs")
  func lookup() {
    let file = RoomCommand.report(hello).lookup(on: subject(), by: .user(carol, key: id(70)))
    #expect(file.report == .of(complaint) && file.messages == [.of(hello)] && file.content == .of(hello))
    #expect(file.command == nil && file.withoutIDs.report == .of(complaint) && file.withoutIDs.content == nil)
    let user = RoomCommand.report(user: dave).lookup(on: subject(), by: .user(carol))
    #expect(user.report == .of(complaint) && !user.asksForIDs)
    let resolve = RoomCommand.resolve().lookup(on: subject(), by: .user(carol, key: id(70)))
    #expect(resolve.report == .of(complaint) && resolve.content == nil && resolve.command != nil)
  }
}
