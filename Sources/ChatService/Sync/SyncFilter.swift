import ChatPrimitives

extension SyncFilter {
  /// Whether the client wants items of this type. Gaps go with messages, so that none is missing silently.
  func wants(_ type: SyncItemType) -> Bool {
    guard let types else { return true }
    return types.contains(type == .gap ? .message : type)
  }

  /// Presence is in no room.
  func wants(_ notice: LiveNotice) -> Bool {
    guard notices?.contains(notice.type) ?? true else { return false }
    return switch notice {
    case .typing(let notice): wants(notice.room)
    case .presence: true
    }
  }

  func wants(_ room: RoomID) -> Bool { rooms?.contains(room) ?? true }

  func wants(_ entity: SyncEntity) -> Bool {
    wants(entity.type) && (entity.room.map { wants($0) } ?? true)
  }
}

extension SyncEntity {
  /// The type of the entity's items, and of its tombstone.
  package var type: SyncItemType {
    switch self {
    case .account: .account
    case .preferences: .preferences
    case .device: .device
    case .session: .session
    case .blockedUser: .blockedUser
    case .workspace: .workspace
    case .workspaceMember: .workspaceMember
    case .invitation: .invitation
    case .scheduledMessage: .scheduledMessage
    case .lostRoom, .room, .channel: .room
    case .member: .member
    case .readMarker: .readMarker
    case .user: .user
    case .thread: .thread
    case .message: .message
    case .gap: .gap
    }
  }

  /// The room that the entity is, or is in.
  var room: RoomID? {
    switch self {
    case .scheduledMessage(_, let id), .lostRoom(let id), .room(let id), .channel(let id, _), .member(_, let id),
      .readMarker(_, let id), .thread(_, let id), .message(_, let id), .gap(let id):
      id
    case .account, .preferences, .device, .session, .blockedUser, .workspace, .workspaceMember, .invitation, .user: nil
    }
  }
}
