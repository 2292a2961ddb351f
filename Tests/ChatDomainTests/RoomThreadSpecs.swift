import ChatDomain
import ChatPrimitives
import Testing

@Suite("Threads and replies")
struct RoomThreadSpecs {
  private let reply: MessageID = id(41)
  private let root = ThreadRoot(message: hello, ordinal: 1)
  private let room = given(
    RoomDecider.self, teaRoom + [.messages(.sent(hello, author: carol, thread: nil, .plain("hello")))])
  private let sent = KnownMessage.of(carol, at: 6)

  private func known(_ location: MessageLocation, replies: UInt64 = 0, deleted: Bool = false) -> KnownMessage {
    var message = KnownMessage.of(carol, at: 6, deletedAt: deleted ? 7 : nil)
    message.location = location
    message.replies = replies
    return message
  }

  private func location(_ ordinal: UInt64) -> ThreadLocation {
    ThreadLocation(root: root, rootAuthor: carol, ordinal: ordinal)
  }

  /// The result of dave sending a message, given what is known of the messages that it refers to.
  private func sending(
    to thread: MessageID? = nil, replyingTo target: MessageID? = nil, _ known: [MessageID: KnownMessage] = [:]
  ) -> Outcome<RoomDecider> {
    room.knowing(.messages(known)).when(
      .send(NewMessage(text: "yes", replyTo: target, thread: thread), id: reply), by: .user(dave))
  }

  // MARK: Threads

  @Test("the root of a thread is in the room's own timeline, and a thread has its own ordinals")
  func beginsThread() {
    sending(to: hello, [hello: sent])
      .thenRecorded(.messages(.sent(reply, author: dave, thread: location(1), .plain("yes"))))
    sending(to: hello, [hello: known(.room(1), replies: 8)])
      .thenRecorded(.messages(.sent(reply, author: dave, thread: location(9), .plain("yes"))))
    sending(to: hello).thenRejected(.messageNotFound)
    sending(to: hello, [id(42): sent]).thenRejected(.messageNotFound)
    sending(to: hello, [hello: known(MessageLocation(thread: 1, ordinal: 1))]).thenRejected(.notAThreadRoot)
    sending(to: hello, [hello: known(.room(1), deleted: true)]).thenRejected(.messageDeleted)
  }

  @Test("a thread that has begun goes on though its root is deleted")
  func outlivesRoot() {
    sending(to: hello, [hello: known(.room(1), replies: 1, deleted: true)])
      .thenRecorded(.messages(.sent(reply, author: dave, thread: location(2), .plain("yes"))))
  }

  @Test("a retry must name the same thread")
  func retriedInThread() {
    let prior = KnownMessage(
      author: dave, location: MessageLocation(thread: 1, ordinal: 1), sent: .at(7), sentAt: Stamp.at(7).time,
      revision: Stamp.at(7).position, isDeleted: false,
      fingerprint: .message(.plain("yes"), author: dave, thread: hello))
    let state = given(
      RoomDecider.self,
      teaRoom + [
        .messages(.sent(hello, author: carol, thread: nil, .plain("hello"))),
        .messages(.sent(reply, author: dave, thread: location(1), .plain("yes"))),
      ])
    // The root is gone by then, but a retry does not need it.
    let known = state.knowing(reply, prior)
    func send(to thread: MessageID?) -> RoomCommand { .send(NewMessage(text: "yes", thread: thread), id: reply) }
    known.when(send(to: hello), by: .user(dave)).thenAlreadyDone(at: 7)
    known.when(send(to: nil), by: .user(dave)).thenRejected(.idInUse)
    known.knowing(id(42), sent).when(send(to: id(42)), by: .user(dave)).thenRejected(.idInUse)
  }

  @Test("a reply takes no ordinal of the room and moves no marker in it")
  func takesNoRoomOrdinal() {
    let state = given(
      RoomDecider.self,
      teaRoom + [
        .messages(.sent(hello, author: carol, thread: nil, .plain("hello"))),
        .messages(.sent(reply, author: dave, thread: location(1), .plain("yes"))),
        .threads(.markerMoved(alice, to: reply, at: MessageLocation(thread: 1, ordinal: 1))),
      ]
    ).state
    #expect(state.room?.lastOrdinal == 1)
    #expect(state.room?.members[dave]?.marker == 0 && state.room?.members[alice]?.marker == 0)
  }

  @Test("edits and deletions have the message's location in the thread")
  func changesInThread() {
    var inThread = known(MessageLocation(thread: 1, ordinal: 3))
    inThread.author = dave
    room.knowing(reply, inThread).when(.messages(.edit(reply, .plain("no"))), by: .user(dave))
      .thenRecorded(.messages(.edited(reply, at: MessageLocation(thread: 1, ordinal: 3), .plain("no"))))
    room.knowing(reply, inThread).when(.messages(.delete(reply)), by: .user(dave))
      .thenRecorded(.messages(.deleted(reply, at: MessageLocation(thread: 1, ordinal: 3))))
    room.knowing(reply, inThread).when(.reading(.moveMarker(to: reply)), by: .user(dave)).thenRejected(.messageNotFound)
  }

  // MARK: Replies

  @Test("a message replies to a message of the same timeline")
  func replies() {
    sending(replyingTo: hello).thenRejected(.messageNotFound)
    sending(replyingTo: hello, [hello: sent]).thenAccepted()
    sending(replyingTo: hello, [hello: known(.room(1), deleted: true)]).thenAccepted()
    let inThread = known(MessageLocation(thread: 1, ordinal: 1))
    sending(replyingTo: hello, [hello: inThread]).thenRejected(.replyElsewhere)

    let (root, target): (MessageID, MessageID) = (id(42), id(43))
    func replyingTo(_ message: KnownMessage) -> Outcome<RoomDecider> {
      sending(to: root, replyingTo: target, [root: known(.room(1), replies: 1), target: message])
    }
    replyingTo(known(.room(1))).thenAccepted()
    replyingTo(inThread).thenAccepted()
    replyingTo(known(MessageLocation(thread: 2, ordinal: 1))).thenRejected(.replyElsewhere)
    replyingTo(known(.room(2))).thenRejected(.replyElsewhere)
    sending(to: root, replyingTo: target, [root: known(.room(1), replies: 1)]).thenRejected(.messageNotFound)
    sending(to: root, replyingTo: root, [root: known(.room(1), replies: 1)]).thenAccepted()
  }

  // MARK: Reading and following

  @Test("a thread's marker moves to a message of that thread")
  func movesMarker() {
    let target = known(MessageLocation(thread: 1, ordinal: 2))
    func moving(
      _ target: KnownMessage?, _ root: KnownMessage?, _ context: CommandContext = .user(alice)
    ) -> Outcome<RoomDecider> {
      room.knowing(reply, target).knowing(hello, root).when(.threads(.moveMarker(to: reply, in: hello)), by: context)
    }
    moving(target, sent)
      .thenRecorded(.threads(.markerMoved(alice, to: reply, at: MessageLocation(thread: 1, ordinal: 2))))
    moving(nil, sent).thenRejected(.messageNotFound)
    moving(target, nil).thenRejected(.messageNotFound)
    moving(known(MessageLocation(thread: 2, ordinal: 2)), sent).thenRejected(.messageNotFound)
    moving(sent, sent).thenRejected(.messageNotFound)
    moving(target, target).thenRejected(.notAThreadRoot)
    moving(target, sent, .user(stranger)).thenRejected(.roomNotFound)
    moving(target, sent, .service()).thenRejected(.forbidden)
  }

  @Test("every member follows a thread or not, also before the first reply")
  func follows() {
    for follows in [true, false] {
      room.knowing(hello, sent).when(.threads(.setFollowing(hello, follows)), by: .user(alice))
        .thenRecorded(.threads(.followingSet(alice, root, follows: follows)))
    }
    room.when(.threads(.setFollowing(hello, true)), by: .user(alice)).thenRejected(.messageNotFound)
    room.knowing(reply, known(MessageLocation(thread: 1, ordinal: 1))).when(
      .threads(.setFollowing(reply, true)), by: .user(alice)
    )
    .thenRejected(.notAThreadRoot)
    room.knowing(hello, sent).when(.threads(.setFollowing(hello, true)), by: .user(stranger)).thenRejected(
      .roomNotFound)
  }

  // MARK: Lookups

  @Test(
    "a message is decided with lookups of its ID, its thread's root and the message that it replies to")
  func asksForMessages() {
    let command = RoomCommand.send(NewMessage(text: "yes", replyTo: id(42), thread: hello), id: reply)
    let lookup = command.lookup(on: subject(), by: .user(dave, key: .retried))
    #expect(lookup.messages == [reply, hello, id(42)].map { .of($0) })
    #expect(lookup.scheduled == [.of(reply)])
    var thread = location(4)
    thread.root.ordinal = 2
    let state = room.knowing(hello, known(.room(2), replies: 3)).knowing(
      id(42), known(MessageLocation(thread: 2, ordinal: 3)))
    let answered = MessageLocation(thread: 2, ordinal: 3)
    let content = MessageContent(text: "yes", details: MessageDetails(replyTo: id(42), at: answered))
    state.when(command, by: .user(dave)).thenRecorded(.messages(.sent(reply, author: dave, thread: thread, content)))
    state.knowing(id(42), known(.room(3))).when(command, by: .user(dave)).thenRejected(.replyElsewhere)
    state.knowing(reply, known(.room(1))).when(command, by: .user(dave)).thenRejected(.idInUse)
    #expect(RoomCommand.send("plain").lookup(on: subject(), by: .user(dave)).messages == [.of(hello)])
    #expect(RoomCommand.members(.leave).lookup(on: subject(), by: .user(dave)) == Lookup())
  }

  @Test("every command asks for the messages that it is about, in its own room")
  func asksForItsMessages() {
    let room: RoomID = id(90)
    let due = ScheduledMessage(
      author: dave, content: MessageContent(text: "yes", details: MessageDetails(replyTo: id(42))), thread: id(43),
      sendAt: noon)
    let asking: [(RoomCommand, messages: [MessageID], scheduled: [MessageID])] = [
      (.messages(.edit(hello, .plain("x"))), [hello], []), (.messages(.delete(hello)), [hello], []),
      (.annotations(.react(hello, "👍")), [hello], []), (.annotations(.unreact(hello, "👍")), [hello], []),
      (.annotations(.pin(hello)), [hello], []), (.annotations(.unpin(hello)), [hello], []),
      (.reading(.moveMarker(to: hello)), [hello], []), (.reading(.markUnread(from: hello)), [hello], []),
      (.threads(.moveMarker(to: hello, in: id(41))), [hello, id(41)], []),
      (.threads(.setFollowing(hello, true)), [hello], []), (.schedule(), [hello], [hello]),
      (
        .scheduling(.schedule(hello, .asking(for: due.content, in: id(43)), at: noon)), [hello, id(43), id(42)], [hello]
      ),
      (.reschedule(), [], [hello]), (.scheduling(.cancel(hello)), [], [hello]), (.sendDue(due), [id(43), id(42)], []),
      (.sendDue(), [], []),
    ]
    for (command, messages, scheduled) in asking {
      let lookup = command.lookup(on: room, by: .user(dave))
      #expect(lookup.messages == messages.map { MessageKey(room: room, message: $0) }, "\(command)")
      #expect(lookup.scheduled == scheduled.map { MessageKey(room: room, message: $0) }, "\(command)")
      let reacts = if case .annotations(.react) = command { true } else { false }
      let unreacts = if case .annotations(.unreact) = command { true } else { false }
      let key = ReactionKey(message: MessageKey(room: room, message: hello), user: dave, emoji: "👍")
      #expect(lookup.reaction == (reacts || unreacts ? key : nil), "\(command)")
    }
  }
}
