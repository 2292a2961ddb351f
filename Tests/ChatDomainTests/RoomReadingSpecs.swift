import ChatDomain
import ChatPrimitives
import Testing

@Suite("Read markers and unread marks")
struct RoomReadingSpecs {
  private let first: MessageID = id(41)
  private let second: MessageID = id(42)
  private let third: MessageID = id(43)

  /// The room with three messages from alice at positions 6 to 8.
  private func room(_ later: RoomEvent...) -> Given<RoomDecider> {
    given(
      RoomDecider.self,
      teaRoom + [first, second, third].map { .messages(.sent($0, author: alice, thread: nil, .plain("x"))) } + later)
  }

  private func message(_ ordinal: UInt64) -> KnownMessage { .of(alice, ordinal: ordinal, at: 5 + ordinal) }

  @Test("a marker moves forward, and does not move for an earlier message")
  func moves() {
    room().knowing(second, message(2)).when(.reading(.moveMarker(to: second)), by: .user(carol))
      .thenRecorded(.reading(.markerMoved(carol, to: second, ordinal: 2)))
    let read = room(.reading(.markerMoved(carol, to: second, ordinal: 2)))
    read.knowing(first, message(1)).when(.reading(.moveMarker(to: first)), by: .user(carol)).thenAlreadyDone(at: 6)
    read.knowing(second, message(2)).when(.reading(.moveMarker(to: second)), by: .user(carol)).thenAlreadyDone(at: 7)
    read.knowing(third, message(3)).when(.reading(.moveMarker(to: third)), by: .user(carol)).thenAccepted()
  }

  @Test("members can mark existing messages as unread, even repeatedly")
  func marks() {
    let event = RoomEvent.reading(.markedUnread(carol, from: second, ordinal: 2))
    let command = RoomCommand.reading(.markUnread(from: second))
    let known = message(2)
    room().knowing(second, known).when(command, by: .user(carol)).thenRecorded(event)
    room(event).knowing(second, known).when(command, by: .user(carol)).thenRecorded(event)
    room(.lifecycle(.archived)).knowing(second, known).when(command, by: .user(carol)).thenRecorded(event)
    room().when(.reading(.markUnread(from: id(49))), by: .user(carol)).thenRejected(.messageNotFound)
    room().knowing(second, known).when(command, by: .user(stranger)).thenRejected(.roomNotFound)
    room().knowing(second, known).when(command, by: .service()).thenRejected(.forbidden)
  }

  @Test("a move that reaches the mark is an event though the marker stays; one before it is not")
  func lifts() {
    let marked = room(
      .reading(.markerMoved(carol, to: third, ordinal: 3)), .reading(.markedUnread(carol, from: second, ordinal: 2)))
    marked.knowing(first, message(1)).when(.reading(.moveMarker(to: first)), by: .user(carol)).thenAlreadyDone(at: 6)
    for (target, ordinal) in [(second, 2), (third, 3)] as [(MessageID, UInt64)] {
      marked.knowing(target, message(ordinal)).when(.reading(.moveMarker(to: target)), by: .user(carol))
        .thenRecorded(.reading(.markerMoved(carol, to: target, ordinal: ordinal)))
    }
    let lifted = room(
      .reading(.markerMoved(carol, to: third, ordinal: 3)), .reading(.markedUnread(carol, from: second, ordinal: 2)),
      .reading(.markerMoved(carol, to: second, ordinal: 2)))
    lifted.knowing(third, message(3)).when(.reading(.moveMarker(to: third)), by: .user(carol)).thenAlreadyDone(at: 8)
  }

  @Test("sending a message clears the sender's mark only")
  func sending() {
    let mark = RoomEvent.reading(.markedUnread(carol, from: second, ordinal: 2))
    func unreadFrom(_ author: UserID) -> UInt64? {
      room(mark, .messages(.sent(hello, author: author, thread: nil, .plain("x")))).state.room?.members[carol]?
        .unreadFrom
    }
    #expect(unreadFrom(carol) == nil)
    #expect(unreadFrom(bob) == 2)
  }

  @Test("the room's marker cannot move to a message in a thread")
  func threads() {
    var inThread = message(1)
    inThread.location = MessageLocation(thread: 1, ordinal: 9)
    for command in [RoomCommand.reading(.moveMarker(to: hello)), .reading(.markUnread(from: hello))] {
      room().knowing(hello, inThread).when(command, by: .user(carol)).thenRejected(.messageNotFound)
    }
  }

  @Test("only the user decides who sees the user's markers")
  func preferences() {
    let command = UserCommand.account(.setPreferences(PreferencesEdit(sharesReadMarkers: false)))
    let known = given(UserDecider.self, aliceAtHome)
    known.when(command, by: .user(alice)).thenRecorded(
      .account(.preferencesSet(PreferencesEdit(sharesReadMarkers: false))))
    known.when(command, by: .user(bob)).thenRejected(.forbidden)
    known.when(command, by: .user(alice, session: otherLogin)).thenRejected(.sessionEnded)
  }
}
