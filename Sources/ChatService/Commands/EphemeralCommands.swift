package import ChatDomain
package import ChatPrimitives
import ChatProjections
import EventStore

/// What clients say that is not recorded in the log.
extension ChatService {
  /// Says to the members of a room that a user types, or has stopped. If the user says so again within
  /// `Limits.typingIntervalSeconds`, that changes nothing.
  /// - Throws: the rejection that a message would get.
  package func setTyping(_ isTyping: Bool, in room: RoomID, by user: UserID) async throws(ServiceError) {
    let input = TypingInput(isTyping: isTyping, head: store.head)
    let now = now()
    let (refusal, other) = try await rooms {
      (try $0.refusal(of: user, writingIn: room, at: now), try $0.directPartner(of: user, in: room))
    }
    if let refusal, refusal != .roomArchived { throw .rejected(refusal) }
    if let other { try await requireDirectMessages(of: user, to: other) }
    if let refusal { throw .rejected(refusal) }
    live.withNews { $0.setTyping(TypingInput.Key(user: user, room: room), input) }
  }

  private func requireDirectMessages(of user: UserID, to other: UserID) async throws(ServiceError) {
    let accept = try await accounts { accounts in
      try [user, other].allSatisfy { try accounts.preferences(of: $0)?.acceptsDirectMessages ?? false }
    }
    guard accept else { throw .rejected(.directMessagesRefused) }
  }

  /// The user of a session is active, or away. Applies to the session's open streams.
  /// - Parameter presence: not `offline`.
  /// - Returns: false if the session has no open stream. Then nothing changes.
  package func setPresence(_ presence: Presence, of user: UserID, session: SessionID?) -> Bool {
    live.withNews { registry in registry.set(presence, of: user) { $0.session == session } }
  }

  /// A device shows these rooms, until its last stream ends or it says which other ones it shows.
  /// - Returns: false if the device has no open stream. Then nothing changes.
  package func setOpenRooms(_ rooms: Set<RoomID>, on device: DeviceID, of user: UserID) -> Bool {
    live.withNews { $0.setOpenRooms(rooms, device, of: user) }
  }
}
