import ChatPrimitives

extension RoomDecider {
  static func create(_ creation: RoomCreation, in state: RoomState) throws(Rejection) -> Verdict<RoomEvent> {
    if let room = state.room {
      guard room.creationFingerprint == creation.fingerprint else { throw .idInUse }
      return .alreadyDone(room.created)
    }
    guard state == .absent else { throw .idInUse }
    try TextRules.roomName(creation.name, of: creation.kind)
    guard let creator = creation.creator else { return .record([.created(creation)]) }
    return .record([.created(creation), .memberJoined(creator, role: .owner, invite: nil)])
  }

  /// Recorded even when nothing changes: the fact carries the idempotency key by which a late retry is known.
  static func edit(_ edit: RoomEdit, in state: RoomState) throws(Rejection) -> Verdict<RoomEvent> {
    let room = try openRoom(state)
    if let name = edit.name { try TextRules.roomName(name, of: room.kind) }
    return .record([.edited(edit)])
  }

  static func archive(_ state: RoomState) throws(Rejection) -> Verdict<RoomEvent> {
    switch state {
    case .absent, .deleted: throw .roomNotFound
    case .open: .record([.archived])
    case .archived(_, let since): .alreadyDone(since)
    }
  }
}
