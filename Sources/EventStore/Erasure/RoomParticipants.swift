package import ChatDomain
package import ChatPrimitives
package import EventLog

/// The users who did something in a room, or whose membership changed there. It reads them from the envelopes of the log,
/// which remain when the room is deleted and when payloads are erased.
package enum RoomParticipants {
  /// The kinds whose subject is a member: joining, leaving, roles, bans and silence.
  private static let memberKinds: ClosedRange<UInt16> = 120...129

  /// - Throws: the errors of `BlockSource.block(containing:)`.
  package static func users(of room: RoomID, in source: some BlockSource) throws(LogError) -> Set<UserID> {
    var users: Set<UserID> = []
    var blocks = StreamBlocks(source, stream: room.uuid, from: .first, through: source.head)
    while let block = try blocks.next() {
      for envelope in block.records.lazy.map(\.envelope)
      where envelope.stream == room.uuid && envelope.streamKind == StreamKind.room.rawValue {
        if let actor = envelope.actor { users.insert(UserID(actor)) }
        if memberKinds.contains(envelope.kind), let member = envelope.subject { users.insert(UserID(member)) }
      }
    }
    return users
  }
}
