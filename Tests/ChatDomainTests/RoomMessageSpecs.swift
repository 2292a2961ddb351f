import ChatDomain
import ChatPrimitives
import Testing

@Suite("Messages")
struct RoomMessageSpecs {
  /// The message stands at position 6.
  private func room(_ later: [RoomEvent] = []) -> Given<RoomDecider> {
    given(RoomDecider.self, teaRoom + [.messages(.sent(hello, author: carol, thread: nil, .plain("hello")))] + later)
  }
  private let sent = KnownMessage.of(carol, at: 6)
  private let deleted = KnownMessage.of(carol, at: 6, deletedAt: 7)

  // MARK: Send

  @Test("members send, and nobody else")
  func sends() {
    let empty = given(RoomDecider.self, teaRoom)
    empty.when(.send(by: carol), by: .user(carol)).thenRecorded(
      .messages(.sent(hello, author: carol, thread: nil, .plain("hello"))))
    empty.when(.send(by: carol), by: .service(for: carol))
      .thenRecorded(.messages(.sent(hello, author: carol, thread: nil, .plain("hello"))))
    empty.when(.send(by: stranger), by: .user(stranger)).thenRejected(.roomNotFound)
    empty.when(.send(by: stranger), by: .service(for: stranger)).thenRejected(.roomNotFound)
    empty.when(.send(by: carol), by: .service()).thenRejected(.forbidden)
    empty.when(.send(by: carol), by: .nobody()).thenRejected(.forbidden)
  }

  @Test("the same message again is the first one, whatever became of it")
  func sendsOnce() {
    for prior in [sent, deleted] {
      for state in [room(), room([.lifecycle(.archived)])] {
        state.when(.send(by: carol, prior: prior), by: .user(carol)).thenAlreadyDone(at: 6)
        state.when(.send("hi", by: carol, prior: prior), by: .user(carol)).thenRejected(.idInUse)
        state.when(.send(by: dave, prior: prior), by: .user(dave)).thenRejected(.idInUse)
      }
    }
    var erased = sent
    erased.fingerprint = nil
    room().when(.send(by: carol, prior: erased), by: .user(carol)).thenRejected(.idInUse)
  }

  @Test("a service may repeat what stands in a room though the author has left; the author may not")
  func repeatsAfterLeaving() {
    let left = room([.members(.left(carol))])
    left.when(.send(by: carol, prior: sent), by: .service(for: carol)).thenAlreadyDone(at: 6)
    left.when(.send("hi", by: carol, prior: sent), by: .service(for: carol)).thenRejected(.roomNotFound)
    left.when(.send(by: carol), by: .service(for: carol)).thenRejected(.roomNotFound)
    left.when(.send(by: carol, prior: sent), by: .user(carol)).thenRejected(.roomNotFound)
    let gone = room([.lifecycle(.deleted)])
    gone.when(.send(by: carol, prior: sent), by: .service(for: carol)).thenRejected(.roomNotFound)
  }

  @Test(
    "the length of a text, in bytes",
    arguments: [
      (0, .emptyText), (1, nil), (16_383, nil), (16_384, nil), (16_385, .textTooLong),
    ] as [(Int, Rejection?)])
  func textLength(bytes: Int, rejection: Rejection?) {
    let text = String(repeating: "x", count: bytes)
    for outcome in [
      room().when(.send(text, id: id(41), by: carol), by: .user(carol)),
      room().when(.editMessage(hello, .plain(text), target: sent), by: .user(carol)),
    ] {
      if let rejection { outcome.thenRejected(rejection) } else { outcome.thenAccepted() }
    }
  }

  // MARK: Edit

  @Test("a message is edited by its author alone, also to what it was")
  func edits() {
    let edit = RoomCommand.editMessage(hello, .plain("hello"), target: sent)
    room().when(edit, by: .user(carol)).thenRecorded(.messages(.edited(hello, at: .room(1), .plain("hello"))))
    for context: CommandContext in [.user(alice), .user(bob), .user(dave), .service(), .service(for: alice)] {
      room().when(edit, by: context).thenRejected(.forbidden)
    }
    room().when(edit, by: .user(stranger)).thenRejected(.roomNotFound)
    room().when(.editMessage(id(41), .plain("hi"), target: nil), by: .user(carol)).thenRejected(.messageNotFound)
    room().when(.editMessage(hello, .plain("hi"), target: deleted), by: .user(carol)).thenRejected(.messageDeleted)
  }

  // MARK: Delete

  @Test("a message is deleted by its author, an administrator or a service, once")
  func deletes() {
    for context: CommandContext in [.user(carol), .user(bob), .user(alice), .service(), .service(for: carol)] {
      room().when(.deleteMessage(hello, target: sent), by: context).thenRecorded(
        .messages(.deleted(hello, at: .room(1))))
      room().when(.deleteMessage(hello, target: deleted), by: context).thenAlreadyDone(at: 7)
      room().when(.deleteMessage(id(41), target: nil), by: context).thenRejected(.messageNotFound)
    }
    room().when(.deleteMessage(hello, target: sent), by: .user(dave)).thenRejected(.forbidden)
    room().when(.deleteMessage(hello, target: nil), by: .user(stranger)).thenRejected(.roomNotFound)
  }

  @Test("where the index keeps no time of deletion, the answer carries the time of sending")
  func deletesWithoutTime() {
    var facts = deleted
    facts.revisedAt = nil
    let outcome = room().when(.deleteMessage(hello, target: facts), by: .user(carol))
    #expect(
      outcome.result
        == .success(.alreadyDone(Stamp(position: Stamp.at(7).position, time: Stamp.at(6).time))))
  }

  // MARK: Read marker

  @Test("a read marker moves forward only, and its move is answered for ever")
  func movesMarker() {
    let second = KnownMessage.of(dave, ordinal: 2, at: 7)
    let state = room([.messages(.sent(id(41), author: dave, thread: nil, .plain("hello")))])
    state.when(.moveReadMarker(hello, target: sent), by: .user(alice))
      .thenRecorded(.reading(.markerMoved(alice, to: hello, ordinal: 1)))
    let moved = room([
      .messages(.sent(id(41), author: dave, thread: nil, .plain("hello"))),
      .reading(.markerMoved(alice, to: id(41), ordinal: 2)),
    ])
    moved.when(.moveReadMarker(id(41), target: second), by: .user(alice)).thenAlreadyDone(at: 7)
    moved.when(.moveReadMarker(hello, target: sent), by: .user(alice)).thenAlreadyDone(at: 6)
    moved.when(.moveReadMarker(hello, target: deleted), by: .user(bob))
      .thenRecorded(.reading(.markerMoved(bob, to: hello, ordinal: 1)))
    moved.when(.moveReadMarker(id(42), target: nil), by: .user(alice)).thenRejected(.messageNotFound)
    moved.when(.moveReadMarker(hello, target: sent), by: .user(stranger)).thenRejected(.roomNotFound)
    moved.when(.moveReadMarker(hello, target: sent), by: .service()).thenRejected(.forbidden)
  }

  @Test("sending moves the sender's marker; unread starts at the join; an old move takes nothing back")
  func evolvesMarkers() {
    let newcomer: UserID = id(60)
    let state = room([
      .messages(.sent(id(41), author: dave, thread: nil, .plain("a"))), .members(.added(newcomer, role: .member)),
      .messages(.sent(id(42), author: carol, thread: nil, nil)), .reading(.markerMoved(dave, to: hello, ordinal: 1)),
    ]).state
    let members = state.room?.members
    #expect(state.room?.lastOrdinal == 3)
    #expect(members?[carol]?.marker == 3)
    #expect(members?[dave]?.marker == 2)
    #expect(members?[alice]?.marker == 0)
    #expect(members?[newcomer] == Member(role: .member, joined: .at(8), joinedOrdinal: 2, marker: 2))
  }

  @Test("who comes back starts anew at the return")
  func rejoins() {
    let state = room([.members(.left(alice)), .members(.joined(alice, role: .member, invite: nil))]).state
    #expect(state.room?.members[alice] == Member(role: .member, joined: .at(8), joinedOrdinal: 1, marker: 1))
  }
}
