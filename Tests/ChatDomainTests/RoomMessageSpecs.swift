import ChatDomain
import ChatPrimitives
import Testing

@Suite("Messages")
struct RoomMessageSpecs {
  /// The room with a message from carol at position 6.
  private func room(_ later: [RoomEvent] = []) -> Given<RoomDecider> {
    given(RoomDecider.self, teaRoom + [.messages(.sent(hello, author: carol, thread: nil, .plain("hello")))] + later)
  }
  private let sent = KnownMessage.of(carol, at: 6)
  private let deleted = KnownMessage.of(carol, at: 6, deletedAt: 7)

  // MARK: Send

  @Test("members send, and nobody else")
  func sends() {
    let empty = given(RoomDecider.self, teaRoom)
    empty.when(.send(), by: .user(carol)).thenRecorded(
      .messages(.sent(hello, author: carol, thread: nil, .plain("hello"))))
    empty.when(.send(), by: .service(for: carol))
      .thenRecorded(.messages(.sent(hello, author: carol, thread: nil, .plain("hello"))))
    empty.when(.send(), by: .user(stranger)).thenRejected(.roomNotFound)
    empty.when(.send(), by: .service(for: stranger)).thenRejected(.roomNotFound)
    empty.when(.send(), by: .service()).thenRejected(.forbidden)
    empty.when(.send(), by: .nobody()).thenRejected(.forbidden)
  }

  @Test("a repeated message returns the first one, whatever happened to it")
  func sendsOnce() {
    for prior in [sent, deleted] {
      for state in [room(), room([.lifecycle(.archived)])] {
        state.knowing(hello, prior).when(.send(), by: .user(carol)).thenAlreadyDone(at: 6)
        state.knowing(hello, prior).when(.send("hi"), by: .user(carol)).thenRejected(.idInUse)
        state.knowing(hello, prior).when(.send(), by: .user(dave)).thenRejected(.idInUse)
      }
    }
    var erased = sent
    erased.fingerprint = nil
    room().knowing(hello, erased).when(.send(), by: .user(carol)).thenRejected(.idInUse)
  }

  @Test("a service may repeat a message of a room that its author has left; the author may not")
  func repeatsAfterLeaving() {
    let left = room([.members(.left(carol))])
    left.knowing(hello, sent).when(.send(), by: .service(for: carol)).thenAlreadyDone(at: 6)
    left.knowing(hello, sent).when(.send("hi"), by: .service(for: carol)).thenRejected(.roomNotFound)
    left.when(.send(), by: .service(for: carol)).thenRejected(.roomNotFound)
    left.knowing(hello, sent).when(.send(), by: .user(carol)).thenRejected(.roomNotFound)
    let gone = room([.lifecycle(.deleted)])
    gone.knowing(hello, sent).when(.send(), by: .service(for: carol)).thenRejected(.roomNotFound)
  }

  @Test(
    "the length of a text, in bytes",
    arguments: [
      (0, .emptyText), (1, nil), (16_383, nil), (16_384, nil), (16_385, .textTooLong),
    ] as [(Int, Rejection?)])
  func textLength(bytes: Int, rejection: Rejection?) {
    let text = String(repeating: "x", count: bytes)
    for outcome in [
      room().when(.send(text, id: id(41)), by: .user(carol)),
      room().knowing(hello, sent).when(.messages(.edit(hello, .plain(text))), by: .user(carol)),
    ] {
      if let rejection { outcome.thenRejected(rejection) } else { outcome.thenAccepted() }
    }
  }

  // MARK: Edit

  @Test("only its author edits a message, even without changing it")
  func edits() {
    let edit = RoomCommand.messages(.edit(hello, .plain("hello")))
    let room = room()
    let known = room.knowing(hello, sent)
    known.when(edit, by: .user(carol)).thenRecorded(.messages(.edited(hello, at: .room(1), .plain("hello"))))
    for context: CommandContext in [.user(alice), .user(bob), .user(dave), .service(), .service(for: alice)] {
      known.when(edit, by: context).thenRejected(.forbidden)
    }
    known.when(edit, by: .user(stranger)).thenRejected(.roomNotFound)
    room.when(.messages(.edit(id(41), .plain("hi"))), by: .user(carol)).thenRejected(.messageNotFound)
    room.knowing(hello, deleted).when(.messages(.edit(hello, .plain("hi"))), by: .user(carol)).thenRejected(
      .messageDeleted)
  }

  // MARK: Delete

  @Test("a message is deleted by its author, an administrator or a service, once")
  func deletes() {
    for context: CommandContext in [.user(carol), .user(bob), .user(alice), .service(), .service(for: carol)] {
      room().knowing(hello, sent).when(.messages(.delete(hello)), by: context).thenRecorded(
        .messages(.deleted(hello, at: .room(1))))
      room().knowing(hello, deleted).when(.messages(.delete(hello)), by: context).thenAlreadyDone(at: 7)
      room().when(.messages(.delete(id(41))), by: context).thenRejected(.messageNotFound)
    }
    room().knowing(hello, sent).when(.messages(.delete(hello)), by: .user(dave)).thenRejected(.forbidden)
    room().when(.messages(.delete(hello)), by: .user(stranger)).thenRejected(.roomNotFound)
  }

  @Test("without a time of deletion in the index, the response has the time of sending")
  func deletesWithoutTime() {
    var known = deleted
    known.revisedAt = nil
    let outcome = room().knowing(hello, known).when(.messages(.delete(hello)), by: .user(carol))
    #expect(
      outcome.result
        == .success(.alreadyDone(Stamp(position: Stamp.at(7).position, time: Stamp.at(6).time))))
  }

  // MARK: Read marker

  @Test("a read marker only moves forward, and a repeat always succeeds")
  func movesMarker() {
    let second = KnownMessage.of(dave, ordinal: 2, at: 7)
    let state = room([.messages(.sent(id(41), author: dave, thread: nil, .plain("hello")))])
    state.knowing(hello, sent).when(.reading(.moveMarker(to: hello)), by: .user(alice))
      .thenRecorded(.reading(.markerMoved(alice, to: hello, ordinal: 1)))
    let moved = room([
      .messages(.sent(id(41), author: dave, thread: nil, .plain("hello"))),
      .reading(.markerMoved(alice, to: id(41), ordinal: 2)),
    ])
    moved.knowing(id(41), second).when(.reading(.moveMarker(to: id(41))), by: .user(alice)).thenAlreadyDone(at: 7)
    moved.knowing(hello, sent).when(.reading(.moveMarker(to: hello)), by: .user(alice)).thenAlreadyDone(at: 6)
    moved.knowing(hello, deleted).when(.reading(.moveMarker(to: hello)), by: .user(bob))
      .thenRecorded(.reading(.markerMoved(bob, to: hello, ordinal: 1)))
    moved.when(.reading(.moveMarker(to: id(42))), by: .user(alice)).thenRejected(.messageNotFound)
    moved.knowing(hello, sent).when(.reading(.moveMarker(to: hello)), by: .user(stranger)).thenRejected(.roomNotFound)
    moved.knowing(hello, sent).when(.reading(.moveMarker(to: hello)), by: .service()).thenRejected(.forbidden)
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

  @Test("a user who rejoins starts again with everything read")
  func rejoins() {
    let state = room([.members(.left(alice)), .members(.joined(alice, role: .member, invite: nil))]).state
    #expect(state.room?.members[alice] == Member(role: .member, joined: .at(8), joinedOrdinal: 1, marker: 1))
  }
}
