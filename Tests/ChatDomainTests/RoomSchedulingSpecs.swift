import ChatDomain
import ChatPrimitives
import Testing

@Suite("Scheduled messages")
struct RoomSchedulingSpecs {
  private let due = noon.adding(milliseconds: 60_000)
  private let prior = KnownScheduledMessage(author: carol, scheduled: .at(6), fingerprint: .scheduling(.saying()))

  /// The room with a message that carol has scheduled, at position 6.
  private func room(_ later: RoomEvent...) -> Given<RoomDecider> { room(later) }

  private func room(_ later: [RoomEvent]) -> Given<RoomDecider> {
    given(RoomDecider.self, teaRoom + [.scheduling(.scheduled(hello, .saying()))] + later)
  }

  // MARK: Schedule

  @Test("members can schedule messages as themselves in an open room")
  func schedules() {
    let empty = given(RoomDecider.self, teaRoom)
    empty.when(.schedule(), by: .user(carol)).thenRecorded(.scheduling(.scheduled(hello, .saying())))
    for context: CommandContext in [.user(dave), .service(for: dave)] {
      empty.when(.schedule(), by: context).thenRecorded(.scheduling(.scheduled(hello, .saying(by: dave))))
    }
    for context: CommandContext in [.service(), .nobody()] {
      empty.when(.schedule(), by: context).thenRejected(.forbidden)
    }
    empty.when(.schedule(), by: .user(stranger)).thenRejected(.roomNotFound)
    empty.when(.schedule(""), by: .user(carol)).thenRejected(.emptyText)
    given(RoomDecider.self, teaRoom + [.lifecycle(.archived)]).when(.schedule(), by: .user(carol)).thenRejected(
      .roomArchived)
  }

  @Test("a repeat returns the first one, whatever happened to it; other content is refused")
  func schedulesOnce() {
    for state in [
      room(), room(.scheduling(.cancelled(hello))), room(.scheduling(.failed(hello, .silenced))),
      room(.lifecycle(.archived)),
      room(.messages(.sent(hello, author: carol, thread: nil, .plain("later")))),
    ] {
      state.knowingScheduled(hello, prior).when(.schedule(), by: .user(carol, at: due)).thenAlreadyDone(at: 6)
      state.knowingScheduled(hello, prior).when(.schedule("hi"), by: .user(carol)).thenRejected(.idInUse)
      state.knowingScheduled(hello, prior).when(.schedule(at: noon), by: .user(carol)).thenRejected(.idInUse)
      state.knowingScheduled(hello, prior).when(.schedule(), by: .user(dave)).thenRejected(.idInUse)
    }
    var erased = prior
    erased.fingerprint = nil
    room().knowingScheduled(hello, erased).when(.schedule(), by: .user(carol)).thenRejected(.idInUse)
    given(RoomDecider.self, teaRoom).knowing(hello, .of(carol, "later", at: 6)).when(.schedule(), by: .user(carol))
      .thenRejected(.idInUse)
  }

  @Test("the ID of a scheduled message stays taken, whatever happened to the message")
  func reservesID() {
    for state in [room(), room(.scheduling(.cancelled(hello))), room(.scheduling(.failed(hello, .silenced)))] {
      for user in [carol, dave] {
        state.knowingScheduled(hello, prior).when(.send("later"), by: .user(user)).thenRejected(.idInUse)
      }
    }
  }

  @Test("the time lies in the future, within a year", arguments: [-1, 0, 1, 2])
  func time(offset: Int64) {
    let year = Limits.schedulingAheadMilliseconds
    let empty = given(RoomDecider.self, teaRoom)
    let near = empty.when(.schedule(at: noon.adding(milliseconds: offset)), by: .user(carol))
    let far = empty.when(.schedule(at: noon.adding(milliseconds: year - 1 + offset)), by: .user(carol))
    let moved = room().when(.reschedule(at: noon.adding(milliseconds: year - 1 + offset)), by: .user(carol))
    if offset > 0 { near.thenAccepted() } else { near.thenRejected(.sendingTimeOutOfRange) }
    if offset < 2 { far.thenAccepted() } else { far.thenRejected(.sendingTimeOutOfRange) }
    if offset < 2 { moved.thenAccepted() } else { moved.thenRejected(.sendingTimeOutOfRange) }
  }

  @Test("how many of one author wait in one room", arguments: [-1, 0, 1])
  func count(offset: Int) {
    let waiting = Limits.scheduledMessagesPerUserAndRoom - 1 + offset
    let events = (0..<waiting).map { RoomEvent.scheduling(.scheduled(id(1_000 + UInt64($0)), .saying())) }
    let full = given(RoomDecider.self, teaRoom + events)
    let outcome = full.when(.schedule(), by: .user(carol))
    if offset < 1 { outcome.thenAccepted() } else { outcome.thenRejected(.tooManyScheduledMessages) }
    full.when(.schedule(), by: .user(dave)).thenAccepted()
    given(RoomDecider.self, teaRoom + events + [.scheduling(.cancelled(id(1_000)))])
      .when(.schedule(), by: .user(carol)).thenAccepted()
  }

  // MARK: Change and cancel

  @Test("only its author can change and cancel it, while it is waiting")
  func changes() {
    let edit = ScheduledMessageEdit(text: "hi")
    room().knowingScheduled(hello, prior).when(.reschedule(text: "hi"), by: .user(carol))
      .thenRecorded(.scheduling(.changed(hello, edit)))
    room().knowingScheduled(hello, prior).when(.scheduling(.cancel(hello)), by: .user(carol))
      .thenRecorded(.scheduling(.cancelled(hello)))
    room(.lifecycle(.archived)).knowingScheduled(hello, prior).when(.reschedule(text: "hi"), by: .user(carol))
      .thenRejected(
        .roomArchived)
    room(.lifecycle(.archived)).knowingScheduled(hello, prior).when(.scheduling(.cancel(hello)), by: .user(carol))
      .thenAccepted()
    room().knowingScheduled(hello, prior).when(.reschedule(text: ""), by: .user(carol)).thenRejected(.emptyText)
    for command in [RoomCommand.reschedule(text: "hi"), .scheduling(.cancel(hello))] {
      let waiting = room().knowingScheduled(hello, prior)
      waiting.when(command, by: .user(alice)).thenRejected(.scheduledMessageNotFound)
      waiting.when(command, by: .user(stranger)).thenRejected(.roomNotFound)
      for settled in [
        room(.scheduling(.cancelled(hello))), room(.scheduling(.failed(hello, .notAMember))),
        room(.messages(.sent(hello, author: carol, thread: nil, .plain("later")))),
      ] {
        let known = settled.knowingScheduled(hello, prior)
        known.when(command, by: .user(carol)).thenRejected(.scheduledMessageSettled)
        known.when(command, by: .user(alice)).thenRejected(.scheduledMessageNotFound)
      }
    }
    room().when(.reschedule(id(41), text: "hi"), by: .user(carol)).thenRejected(.scheduledMessageNotFound)
  }

  @Test("its author can cancel it after leaving the room, but change it only as a member")
  func cancelsFromOutside() throws {
    let cancel = RoomCommand.scheduling(.cancel(hello))
    for gone: [RoomEvent] in [[.members(.left(carol))], [.members(.removed(carol))], [.members(.banned(carol))]] {
      let waiting = given(RoomDecider.self, teaRoom + [.scheduling(.scheduled(hello, .saying()))] + gone)
        .knowingScheduled(hello, prior)
      waiting.when(cancel, by: .user(carol)).thenRecorded(.scheduling(.cancelled(hello)))
      waiting.when(.reschedule(text: "hi"), by: .user(carol)).thenRejected(.roomNotFound)
      waiting.when(.scheduling(.cancel(id(41))), by: .user(carol)).thenRejected(.roomNotFound)
      waiting.when(cancel, by: .user(stranger)).thenRejected(.roomNotFound)
      waiting.when(cancel, by: .service()).thenRejected(.forbidden)
    }
    func known(_ later: RoomEvent...) -> Given<RoomDecider> { room(later).knowingScheduled(hello, prior) }
    known(.members(.left(carol)), .lifecycle(.archived)).when(cancel, by: .user(carol)).thenAccepted()
    known(.members(.left(carol)), .lifecycle(.deleted)).when(cancel, by: .user(carol)).thenRejected(.roomNotFound)
    known(.members(.left(dave))).when(cancel, by: .user(dave)).thenRejected(.roomNotFound)
    known(.members(.left(carol)), .scheduling(.cancelled(hello))).when(cancel, by: .user(carol))
      .thenRejected(.scheduledMessageSettled)
    // The lookup may be older than the message, which is then only in the state.
    room(.members(.left(carol))).when(.scheduling(.cancel(hello)), by: .user(carol)).thenAccepted()
    try checkRetry(
      Retry<RoomDecider>(
        first: cancel, again: cancel, context: .user(carol, key: .retried), later: [.lifecycle(.archived)],
        known: .scheduled([hello: prior])),
      after: teaRoom + [.scheduling(.scheduled(hello, .saying())), .members(.left(carol))])
    try checkRetry(
      Retry<RoomDecider>(
        first: cancel, again: cancel, context: .user(carol, key: .retried), later: [.members(.banned(carol))],
        known: .scheduled([hello: prior])),
      after: teaRoom + [.scheduling(.scheduled(hello, .saying()))])
  }

  @Test("fields that are absent in a change keep their values")
  func partialChange() {
    let time = noon.adding(milliseconds: 90_000)
    let state = room(
      .scheduling(.changed(hello, ScheduledMessageEdit(text: "hi"))),
      .scheduling(.changed(hello, ScheduledMessageEdit(sendAt: time)))
    ).state
    #expect(state.room?.scheduled[hello] == WaitingMessage(.saying("hi", at: time), revision: LogPosition(8)))
    let details = MessageDetails(
      replyTo: id(41), mentions: Mentions(users: [bob]), custom: CustomPart(type: "a", body: "1"))
    let rich = ScheduledMessage(author: carol, content: MessageContent(text: "old", details: details), sendAt: due)
    let reworded = rich.applying(ScheduledMessageEdit(text: "new"))
    #expect(reworded.content == MessageContent(text: "new", details: details))
    let hushed = rich.applying(ScheduledMessageEdit(mentions: Mentions()))
    #expect(hushed.content.details?.mentions.isEmpty == true && hushed.content.details?.custom == details.custom)
    let moved = rich.applying(ScheduledMessageEdit(customBody: "2"))
    #expect(moved.content.text == "old" && moved.content.details?.mentions == details.mentions)
    #expect(moved.content.details?.custom == CustomPart(type: "a", body: "2"))
    let mentioning = ScheduledMessage.saying().applying(ScheduledMessageEdit(mentions: Mentions(everyone: true)))
    #expect(mentioning.content.details?.mentions.everyone == true)
    #expect(mentioning.applying(ScheduledMessageEdit(mentions: Mentions())) == .saying())
  }

  @Test("only a message with a type has data that can be changed")
  func data() {
    func waiting(_ custom: CustomPart?) -> Given<RoomDecider> {
      let content = MessageContent(text: "later", details: custom.map { MessageDetails(custom: $0) })
      let scheduled = ScheduledMessage(author: carol, content: content, sendAt: due)
      return given(RoomDecider.self, teaRoom + [.scheduling(.scheduled(hello, scheduled))])
        .knowingScheduled(hello, prior)
    }
    let edit = ScheduledMessageEdit(customBody: "2")
    let change = RoomCommand.scheduling(.change(hello, edit))
    waiting(CustomPart(type: "a", body: "1")).when(change, by: .user(carol))
      .thenRecorded(.scheduling(.changed(hello, edit)))
    waiting(nil).when(change, by: .user(carol)).thenRejected(.customTypeMissing)
    let long = ScheduledMessageEdit(customBody: String(repeating: "1", count: Limits.customBodyBytes + 1))
    waiting(CustomPart(type: "a", body: "1")).when(.scheduling(.change(hello, long)), by: .user(carol))
      .thenRejected(.customBodyTooLong)
  }

  // MARK: Send

  @Test("only the server sends due messages, each once")
  func sends() {
    let command = RoomCommand.sendDue()
    let now = CommandContext.service(for: carol, at: due)
    let sent = RoomEvent.messages(.sent(hello, author: carol, thread: nil, .plain("later")))
    room().when(command, by: now).thenRecorded(sent)
    room().when(command, by: .service(for: carol, at: due.adding(milliseconds: -1))).thenRejected(
      .sendingTimeOutOfRange)
    room().when(command, by: .user(carol, at: due)).thenRejected(.serviceOnly)
    room().when(command, by: .service(for: dave, at: due)).thenRejected(.forbidden)
    room(sent).when(command, by: now).thenRejected(.scheduledMessageNotFound)
    room(.scheduling(.cancelled(hello))).when(command, by: now).thenRejected(.scheduledMessageNotFound)
    room(.scheduling(.changed(hello, ScheduledMessageEdit(sendAt: due.adding(milliseconds: 1)))))
      .when(command, by: now).thenRejected(.sendingTimeOutOfRange)
    room(.lifecycle(.deleted)).when(command, by: now).thenRejected(.roomNotFound)
    #expect(room(sent).state.room?.scheduled.isEmpty == true)
  }

  @Test("a message that was changed after the lookup is not sent in its old form")
  func changedMeanwhile() {
    let now = CommandContext.service(for: carol, at: due)
    let changed = room(.scheduling(.changed(hello, ScheduledMessageEdit(text: "hi"))))
    changed.when(.sendDue(), by: now).thenRejected(.scheduledMessageNotFound)
    changed.when(.sendDue(.saying("hi"), revision: 7), by: now)
      .thenRecorded(.messages(.sent(hello, author: carol, thread: nil, .plain("hi"))))
  }

  @Test("a message that cannot be sent gets the reason and stops waiting")
  func fails() {
    for (event, reason) in [
      (.members(.left(carol)), .notAMember), (.members(.banned(carol)), .notAMember),
      (.lifecycle(.archived), .roomClosed),
      (.members(.silenced(carol, until: due.adding(milliseconds: 1))), .silenced),
    ] as [(RoomEvent, SchedulingFailure)] {
      let command = RoomCommand.sendDue()
      room(event).when(command, by: .service(for: carol, at: due)).thenRecorded(.scheduling(.failed(hello, reason)))
      room(event, .scheduling(.failed(hello, reason))).when(command, by: .service(for: carol, at: due))
        .thenRejected(.scheduledMessageNotFound)
    }
    room(.members(.silenced(carol, until: due)))
      .when(.sendDue(), by: .service(for: carol, at: due)).thenAccepted()
    room().with(TestDirectory(disabled: [carol]))
      .when(.sendDue(), by: .service(for: carol, at: due))
      .thenRecorded(.scheduling(.failed(hello, .silenced)))
  }

  // MARK: Threads and replies

  @Test("a message for a thread goes there as its next reply, unless the thread cannot take it any more")
  func threads() {
    let root: MessageID = id(45)
    let scheduled = ScheduledMessage(author: carol, content: .plain("later"), thread: root, sendAt: due)
    func known(replies: UInt64 = 0, deletedAt: UInt64? = nil) -> KnownMessage {
      var message = KnownMessage.of(alice, ordinal: 1, at: 6, deletedAt: deletedAt)
      message.replies = replies
      return message
    }
    let state = given(
      RoomDecider.self,
      teaRoom + [
        .messages(.sent(root, author: alice, thread: nil, .plain("root"))), .scheduling(.scheduled(hello, scheduled)),
      ])
    let now = CommandContext.service(for: carol, at: due)
    let location = ThreadLocation(root: ThreadRoot(message: root, ordinal: 1), rootAuthor: alice, ordinal: 3)
    let send = RoomCommand.sendDue(scheduled, revision: 7)
    state.knowing(root, known(replies: 2)).when(send, by: now)
      .thenRecorded(.messages(.sent(hello, author: carol, thread: location, .plain("later"))))
    for gone in [nil, known(deletedAt: 8)] {
      state.knowing(root, gone).when(send, by: now).thenRecorded(.scheduling(.failed(hello, .targetGone)))
    }
    let schedule = RoomCommand.scheduling(.schedule(id(46), NewMessage(text: "later", thread: root), at: due))
    state.knowing(root, known()).when(schedule, by: .user(carol))
      .thenRecorded(.scheduling(.scheduled(id(46), scheduled)))
    for (message, rejection) in [(nil, .messageNotFound), (known(deletedAt: 8), .messageDeleted)]
      as [(KnownMessage?, Rejection)]
    {
      state.knowing(root, message).when(schedule, by: .user(carol)).thenRejected(rejection)
    }
  }

  @Test("a scheduled message has the content of its files, which its author may use")
  func media() {
    let photo = Attachment(media: id(1), content: Media(hash: [1], contentType: "image/png", size: 3), name: nil)
    let content = MessageContent(text: "look", details: MessageDetails(attachments: [photo]))
    let schedule = RoomCommand.scheduling(.schedule(id(46), .asking(for: content), at: due))
    room().when(schedule, by: .user(carol)).thenRejected(.mediaNotFound)
    room().knowing(media: content.media).when(schedule, by: .user(carol))
      .thenRecorded(.scheduling(.scheduled(id(46), ScheduledMessage(author: carol, content: content, sendAt: due))))
  }

  @Test("a user who may not write cannot schedule, but can cancel")
  func silenced() {
    let silent = room(.members(.silenced(carol, until: due)))
    silent.when(.schedule(id: id(46)), by: .user(carol)).thenRejected(.memberSilenced)
    silent.knowingScheduled(hello, prior).when(.scheduling(.cancel(hello)), by: .user(carol)).thenAccepted()
  }
}
