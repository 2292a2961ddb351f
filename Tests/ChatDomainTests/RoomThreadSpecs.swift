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

  private func facts(_ place: MessageLocation, replies: UInt64 = 0, deleted: Bool = false) -> KnownMessage {
    var facts = KnownMessage.of(carol, at: 6, deletedAt: deleted ? 7 : nil)
    facts.place = place
    facts.replies = replies
    return facts
  }

  private func place(_ ordinal: UInt64) -> ThreadLocation {
    ThreadLocation(root: root, rootAuthor: carol, ordinal: ordinal)
  }

  private func sending(_ references: MessageReferences?) -> Outcome<RoomDecider> { sending(nil, references) }

  private func sending(_ details: MessageDetails?, _ references: MessageReferences?) -> Outcome<RoomDecider> {
    room.when(
      .send(MessageContent(text: "yes", details: details), id: reply, by: dave, references), by: .user(dave))
  }

  // MARK: Threads

  @Test("a thread hangs from a message of the room's own timeline, and counts by itself")
  func beginsThread() {
    sending(MessageReferences(thread: hello, root: sent))
      .thenRecorded(.messages(.sent(reply, author: dave, thread: place(1), .plain("yes"))))
    sending(MessageReferences(thread: hello, root: facts(.room(1), replies: 8)))
      .thenRecorded(.messages(.sent(reply, author: dave, thread: place(9), .plain("yes"))))
    sending(MessageReferences(thread: hello)).thenRejected(.messageNotFound)
    sending(MessageReferences(thread: hello, root: facts(MessageLocation(thread: 1, ordinal: 1))))
      .thenRejected(.notAThreadRoot)
    sending(MessageReferences(thread: hello, root: facts(.room(1), deleted: true))).thenRejected(.messageDeleted)
  }

  @Test("a thread that has begun goes on though its root is deleted")
  func outlivesRoot() {
    sending(MessageReferences(thread: hello, root: facts(.room(1), replies: 1, deleted: true)))
      .thenRecorded(.messages(.sent(reply, author: dave, thread: place(2), .plain("yes"))))
  }

  @Test("the thread is part of what a retry must say again")
  func retriedInThread() {
    let prior = KnownMessage(
      author: dave, place: MessageLocation(thread: 1, ordinal: 1), sent: .at(7), sentAt: Stamp.at(7).time,
      revision: Stamp.at(7).position, isDeleted: false,
      fingerprint: .message(.plain("yes"), author: dave, thread: hello))
    let state = given(
      RoomDecider.self,
      teaRoom + [
        .messages(.sent(hello, author: carol, thread: nil, .plain("hello"))),
        .messages(.sent(reply, author: dave, thread: place(1), .plain("yes"))),
      ])
    // The root is gone by then, which a retry need not know.
    let again = RoomCommand.send(.plain("yes"), id: reply, by: dave, prior: prior, MessageReferences(thread: hello))
    state.when(again, by: .user(dave)).thenAlreadyDone(at: 7)
    state.when(.send(.plain("yes"), id: reply, by: dave, prior: prior), by: .user(dave)).thenRejected(.idInUse)
    let elsewhere = MessageReferences(thread: id(42), root: sent)
    state.when(.send(.plain("yes"), id: reply, by: dave, prior: prior, elsewhere), by: .user(dave))
      .thenRejected(.idInUse)
  }

  @Test("a reply takes no ordinal of the room and moves no marker in it")
  func takesNoRoomOrdinal() {
    let state = given(
      RoomDecider.self,
      teaRoom + [
        .messages(.sent(hello, author: carol, thread: nil, .plain("hello"))),
        .messages(.sent(reply, author: dave, thread: place(1), .plain("yes"))),
        .threads(.markerMoved(alice, to: reply, at: MessageLocation(thread: 1, ordinal: 1))),
      ]
    ).state
    #expect(state.room?.lastOrdinal == 1)
    #expect(state.room?.members[dave]?.marker == 0 && state.room?.members[alice]?.marker == 0)
  }

  @Test("edits and deletions say where in the thread the message stands")
  func changesInThread() {
    var inThread = facts(MessageLocation(thread: 1, ordinal: 3))
    inThread.author = dave
    room.when(.editMessage(reply, .plain("no"), target: inThread), by: .user(dave))
      .thenRecorded(.messages(.edited(reply, at: MessageLocation(thread: 1, ordinal: 3), .plain("no"))))
    room.when(.deleteMessage(reply, target: inThread), by: .user(dave))
      .thenRecorded(.messages(.deleted(reply, at: MessageLocation(thread: 1, ordinal: 3))))
    room.when(.moveReadMarker(reply, target: inThread), by: .user(dave)).thenRejected(.messageNotFound)
  }

  // MARK: Replies

  @Test("a message answers one that is read in the same place")
  func answers() {
    let details = MessageDetails(replyTo: hello)
    sending(details, nil).thenRejected(.messageNotFound)
    sending(details, MessageReferences(answered: sent)).thenAccepted()
    sending(details, MessageReferences(answered: facts(.room(1), deleted: true))).thenAccepted()
    let inThread = facts(MessageLocation(thread: 1, ordinal: 1))
    sending(details, MessageReferences(answered: inThread)).thenRejected(.replyElsewhere)

    func answering(_ answered: KnownMessage) -> Outcome<RoomDecider> {
      sending(details, MessageReferences(thread: hello, root: facts(.room(1), replies: 1), answered: answered))
    }
    answering(facts(.room(1))).thenAccepted()
    answering(facts(MessageLocation(thread: 1, ordinal: 1))).thenAccepted()
    answering(facts(MessageLocation(thread: 2, ordinal: 1))).thenRejected(.replyElsewhere)
    answering(facts(.room(2))).thenRejected(.replyElsewhere)
  }

  // MARK: Reading and following

  @Test("a thread's marker moves to a message of that thread")
  func movesMarker() {
    let target = facts(MessageLocation(thread: 1, ordinal: 2))
    func moving(
      _ target: KnownMessage?, _ root: KnownMessage?, _ context: CommandContext = .user(alice)
    ) -> Outcome<RoomDecider> {
      room.when(.moveThreadMarker(reply, root: hello, target: target, rootFacts: root), by: context)
    }
    moving(target, sent)
      .thenRecorded(.threads(.markerMoved(alice, to: reply, at: MessageLocation(thread: 1, ordinal: 2))))
    moving(nil, sent).thenRejected(.messageNotFound)
    moving(target, nil).thenRejected(.messageNotFound)
    moving(facts(MessageLocation(thread: 2, ordinal: 2)), sent).thenRejected(.messageNotFound)
    moving(sent, sent).thenRejected(.messageNotFound)
    moving(target, target).thenRejected(.notAThreadRoot)
    moving(target, sent, .user(stranger)).thenRejected(.roomNotFound)
    moving(target, sent, .service()).thenRejected(.forbidden)
  }

  @Test("every member follows a thread or not, also before the first reply")
  func follows() {
    for follows in [true, false] {
      room.when(.setThreadFollowing(hello, follows, target: sent), by: .user(alice))
        .thenRecorded(.threads(.followingSet(alice, root, follows: follows)))
    }
    room.when(.setThreadFollowing(hello, true, target: nil), by: .user(alice)).thenRejected(.messageNotFound)
    room.when(.setThreadFollowing(reply, true, target: facts(MessageLocation(thread: 1, ordinal: 1))), by: .user(alice))
      .thenRejected(.notAThreadRoot)
    room.when(.setThreadFollowing(hello, true, target: sent), by: .user(stranger)).thenRejected(.roomNotFound)
  }

  // MARK: Events

  @Test("a command asks for each message that it is decided with, and takes what is found")
  func asksForFacts() {
    let details = MessageDetails(replyTo: id(42))
    let command = RoomCommand.send(
      MessageContent(text: "yes", details: details), id: reply, by: dave, MessageReferences(thread: hello))
    #expect(command.messages == [reply, hello, id(42)])
    let known = [reply: facts(.room(1)), hello: facts(.room(2)), id(42): facts(.room(3))]
    guard case .sendMessage(_, _, _, let prior, let references) = command.withFacts({ known[$0] ?? $1 }) else {
      Issue.record("another command")
      return
    }
    #expect(prior?.place == .room(1) && references?.root?.place == .room(2) && references?.answered?.place == .room(3))
    #expect(RoomCommand.send("plain", by: dave).messages == [hello])
    #expect(RoomCommand.leave.messages == [])
  }
}
