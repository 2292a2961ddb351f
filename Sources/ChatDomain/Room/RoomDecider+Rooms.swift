import ChatPrimitives

extension RoomDecider {
  static func create(
    _ creation: RoomCreation, in state: RoomState, _ directory: borrowing some Directory
  ) throws(Rejection) -> Verdict<RoomEvent> {
    switch state {
    case .open(let room), .archived(let room, _):
      // A direct room's ID is made of its members, so that it is the same one though its creation was erased.
      let isErasedDirect = creation.kind == .direct && room.creationFingerprint == nil
      guard isErasedDirect || room.creationFingerprint == creation.fingerprint else { throw .idInUse }
      return .alreadyDone(room.created)
    case .deleted(_, let fingerprint):
      // It was made, and is gone.
      throw fingerprint == creation.fingerprint ? .roomNotFound : .idInUse
    case .absent:
      return try make(creation, directory)
    }
  }

  private static func make(
    _ creation: RoomCreation, _ directory: borrowing some Directory
  ) throws(Rejection) -> Verdict<RoomEvent> {
    try TextRules.roomName(creation.name, of: creation.kind)
    if let topic = creation.topic { try TextRules.topic(topic) }
    if creation.kind == .direct { return try createDirect(creation, directory) }
    if let workspace = creation.workspace {
      guard let channels = directory.channels(of: workspace) else { throw .workspaceNotFound }
      guard channels.count < Limits.channelsPerWorkspace else { throw .tooManyChannels }
    }
    guard let creator = creation.creator else { return .record([.created(creation)]) }
    return .record([.created(creation), .memberJoined(creator, role: .owner, invite: nil)])
  }

  /// All come in at once, with the same role: nobody owns a direct room. One with oneself alone there is not, for a group
  /// without others serves for notes.
  private static func createDirect(
    _ creation: RoomCreation, _ directory: borrowing some Directory
  ) throws(Rejection) -> Verdict<RoomEvent> {
    guard let creator = creation.creator else { throw .forbidden }
    let others = creation.participants.filter { $0 != creator }
    guard (1...Limits.directRoomOthers).contains(others.count) else { throw .directMembersOutOfRange }
    for user in others {
      guard directory.isRegistered(user) else { throw .userNotFound }
    }
    return .record(
      [.created(creation), .memberJoined(creator, role: .member, invite: nil)]
        + others.map { .memberAdded($0, role: .member) })
  }

  /// Recorded even when nothing changes: the fact carries the idempotency key by which a late retry is known.
  static func edit(_ edit: RoomEdit, in state: RoomState) throws(Rejection) -> Verdict<RoomEvent> {
    let room = try openRoom(state)
    if let name = edit.name { try TextRules.roomName(name, of: room.kind) }
    if let topic = edit.topic { try TextRules.topic(topic) }
    return .record([.edited(edit)])
  }

  /// Under a key it is recorded again, for only so is its late retry known when the room was opened since.
  static func archive(by act: Act, _ state: RoomState) throws(Rejection) -> Verdict<RoomEvent> {
    switch state {
    case .absent, .deleted: throw .roomNotFound
    case .open: .record([.archived])
    case .archived(_, let since): act.command == nil ? .alreadyDone(since) : .record([.archived])
    }
  }

  /// Where a room that is open was last opened again is not kept: it answers with the creation.
  static func restore(by act: Act, _ state: RoomState) throws(Rejection) -> Verdict<RoomEvent> {
    switch state {
    case .absent, .deleted: throw .roomNotFound
    case .open(let room): act.command == nil ? .alreadyDone(room.created) : .record([.restored])
    case .archived: .record([.restored])
    }
  }

  /// Of an open room or an archived one.
  static func delete(_ state: RoomState) throws(Rejection) -> Verdict<RoomEvent> {
    _ = try room(state)
    return .record([.deleted])
  }
}
