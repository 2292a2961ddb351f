import ChatDomain
import ChatPrimitives
import Testing

@Suite("Read markers and marks")
struct RoomReadingSpecs {
  private let first: MessageID = id(41)
  private let second: MessageID = id(42)
  private let third: MessageID = id(43)

  /// Alice's three messages stand at positions 6 to 8.
  private func room(_ later: RoomEvent...) -> Given<RoomDecider> {
    given(
      RoomDecider.self,
      teaRoom + [first, second, third].map { .messages(.sent($0, author: alice, thread: nil, .plain("x"))) } + later)
  }

  private func events(_ ordinal: UInt64) -> KnownMessage { .of(alice, ordinal: ordinal, at: 5 + ordinal) }

  @Test("a marker moves forward, and stands still for an earlier message")
  func moves() {
    room().when(.moveReadMarker(second, target: events(2)), by: .user(carol))
      .thenRecorded(.reading(.markerMoved(carol, to: second, ordinal: 2)))
    let read = room(.reading(.markerMoved(carol, to: second, ordinal: 2)))
    read.when(.moveReadMarker(first, target: events(1)), by: .user(carol)).thenAlreadyDone(at: 6)
    read.when(.moveReadMarker(second, target: events(2)), by: .user(carol)).thenAlreadyDone(at: 7)
    read.when(.moveReadMarker(third, target: events(3)), by: .user(carol)).thenAccepted()
  }

  @Test("members mark as unread what is there, also what is marked already")
  func marks() {
    let event = RoomEvent.reading(.markedUnread(carol, from: second, ordinal: 2))
    let command = RoomCommand.markUnread(second, target: events(2))
    room().when(command, by: .user(carol)).thenRecorded(event)
    room(event).when(command, by: .user(carol)).thenRecorded(event)
    room(.lifecycle(.archived)).when(command, by: .user(carol)).thenRecorded(event)
    room().when(.markUnread(id(49), target: nil), by: .user(carol)).thenRejected(.messageNotFound)
    room().when(command, by: .user(stranger)).thenRejected(.roomNotFound)
    room().when(command, by: .service()).thenRejected(.forbidden)
  }

  @Test("a move that reaches the mark is an event though the marker stays; one before it is not")
  func lifts() {
    let marked = room(
      .reading(.markerMoved(carol, to: third, ordinal: 3)), .reading(.markedUnread(carol, from: second, ordinal: 2)))
    marked.when(.moveReadMarker(first, target: events(1)), by: .user(carol)).thenAlreadyDone(at: 6)
    for (message, ordinal) in [(second, 2), (third, 3)] as [(MessageID, UInt64)] {
      marked.when(.moveReadMarker(message, target: events(ordinal)), by: .user(carol))
        .thenRecorded(.reading(.markerMoved(carol, to: message, ordinal: ordinal)))
    }
    let lifted = room(
      .reading(.markerMoved(carol, to: third, ordinal: 3)), .reading(.markedUnread(carol, from: second, ordinal: 2)),
      .reading(.markerMoved(carol, to: second, ordinal: 2)))
    lifted.when(.moveReadMarker(third, target: events(3)), by: .user(carol)).thenAlreadyDone(at: 8)
  }

  @Test("one's own message lifts the mark, another's does not")
  func sending() {
    let mark = RoomEvent.reading(.markedUnread(carol, from: second, ordinal: 2))
    func unreadFrom(_ author: UserID) -> UInt64? {
      room(mark, .messages(.sent(hello, author: author, thread: nil, .plain("x")))).state.room?.members[carol]?
        .unreadFrom
    }
    #expect(unreadFrom(carol) == nil)
    #expect(unreadFrom(bob) == 2)
  }

  @Test("a message in a thread is no place of the room's marker")
  func threads() {
    var inThread = events(1)
    inThread.place = MessageLocation(thread: 1, ordinal: 9)
    for command in [RoomCommand.moveReadMarker(hello, target: inThread), .markUnread(hello, target: inThread)] {
      room().when(command, by: .user(carol)).thenRejected(.messageNotFound)
    }
  }

  @Test("a user says who sees the markers, and nobody else does")
  func preferences() {
    let command = UserCommand(alice, .setPreferences(UserPreferences(sharesReadMarkers: false)))
    let known = given(UserDecider.self, aliceAtHome)
    known.when(command, by: .user(alice)).thenRecorded(
      .account(.preferencesSet(UserPreferences(sharesReadMarkers: false))))
    known.when(command, by: .user(bob)).thenRejected(.forbidden)
    known.when(command, by: .user(alice, session: otherLogin)).thenRejected(.sessionEnded)
  }
}
