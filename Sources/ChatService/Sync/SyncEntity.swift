package import ChatDomain
package import ChatPrimitives
import EventLog

/// An entity that a client mirrors, as one user may see it.
package enum SyncEntity: Sendable, Hashable {
  case account
  case preferences
  case device(DeviceID)
  case session(SessionID)
  case blockedUser(UserID)
  case workspace(WorkspaceID)
  case workspaceMember(UserID, of: WorkspaceID)
  case invitation(WorkspaceID)
  case scheduledMessage(MessageID, in: RoomID)
  /// The user's membership in the room ended. What the client has of the room is out of date, even if the user is a member
  /// again.
  case lostRoom(RoomID)
  case room(RoomID)
  /// A public channel of which the user need not be a member.
  case channel(RoomID, of: WorkspaceID)
  case member(UserID, of: RoomID)
  case readMarker(UserID, in: RoomID)
  case user(UserID)
  /// The root's ordinal in the room.
  case thread(UInt64, in: RoomID)
  case message(MessageLocation, in: RoomID)
  /// Messages of the room that are not sent. See `SyncGap`.
  case gap(RoomID)
}

// MARK: - Keys

extension SyncEntity {
  /// The first byte of a key. Entities that changed at one position are delivered in this order: the end of what the
  /// client has comes before what is new. The order of types in a scope of `Change` is the same.
  enum Kind: UInt8, CaseIterable {
    case account = 1
    case preferences, device, session, blockedUser, workspace, workspaceMember, invitation, scheduledMessage, lostRoom,
      room
    case channel, member, readMarker, user, thread, message, gap

    /// The bytes of an entity that follow the container.
    var idBytes: Int {
      switch self {
      case .account, .preferences: 0
      case .thread: 8
      case .message: 16
      default: UUIDBytes.byteCount
      }
    }

    /// Whether a room's or workspace's ID comes before the entity's own.
    var hasContainer: Bool {
      switch self {
      case .workspaceMember, .scheduledMessage, .channel, .member, .readMarker, .thread, .message: true
      default: false
      }
    }

    /// The beginning of the keys of all entities of this kind in a room or workspace.
    func prefix(_ container: UUIDBytes) -> [UInt8] { [rawValue] + container.bytes }
  }

  /// A byte for the kind, the ID of the room or workspace if the entity is in one, and the entity's own ID: at most 33
  /// bytes. Keys of one kind and container are in the order of IDs.
  var key: [UInt8] {
    switch self {
    case .account: [Kind.account.rawValue]
    case .preferences: [Kind.preferences.rawValue]
    case .device(let id): Kind.device.prefix(id.uuid)
    case .session(let id): Kind.session.prefix(id.uuid)
    case .blockedUser(let id): Kind.blockedUser.prefix(id.uuid)
    case .workspace(let id): Kind.workspace.prefix(id.uuid)
    case .workspaceMember(let user, let workspace): Kind.workspaceMember.prefix(workspace.uuid) + user.uuid.bytes
    case .invitation(let id): Kind.invitation.prefix(id.uuid)
    case .scheduledMessage(let message, let room): Kind.scheduledMessage.prefix(room.uuid) + message.uuid.bytes
    case .lostRoom(let id): Kind.lostRoom.prefix(id.uuid)
    case .room(let id): Kind.room.prefix(id.uuid)
    case .channel(let room, let workspace): Kind.channel.prefix(workspace.uuid) + room.uuid.bytes
    case .member(let user, let room): Kind.member.prefix(room.uuid) + user.uuid.bytes
    case .readMarker(let user, let room): Kind.readMarker.prefix(room.uuid) + user.uuid.bytes
    case .user(let id): Kind.user.prefix(id.uuid)
    case .thread(let root, let room): Kind.thread.prefix(room.uuid) + root.bigEndianBytes
    case .message(let location, let room):
      Kind.message.prefix(room.uuid) + location.thread.bigEndianBytes + location.ordinal.bigEndianBytes
    case .gap(let id): Kind.gap.prefix(id.uuid)
    }
  }

  /// Nil if `key` is not exactly the key of some entity.
  init?(key: [UInt8]) {
    guard let first = key.first, let kind = Kind(rawValue: first) else { return nil }
    var rest = key.dropFirst()
    var container = UUIDBytes.zero
    if kind.hasContainer {
      guard let id = UUIDBytes(bytes: rest.prefix(UUIDBytes.byteCount)) else { return nil }
      container = id
      rest = rest.dropFirst(UUIDBytes.byteCount)
    }
    guard rest.count == kind.idBytes else { return nil }
    let id = UUIDBytes(bytes: rest) ?? .zero
    switch kind {
    case .account: self = .account
    case .preferences: self = .preferences
    case .device: self = .device(DeviceID(id))
    case .session: self = .session(SessionID(id))
    case .blockedUser: self = .blockedUser(UserID(id))
    case .workspace: self = .workspace(WorkspaceID(id))
    case .workspaceMember: self = .workspaceMember(UserID(id), of: WorkspaceID(container))
    case .invitation: self = .invitation(WorkspaceID(id))
    case .scheduledMessage: self = .scheduledMessage(MessageID(id), in: RoomID(container))
    case .lostRoom: self = .lostRoom(RoomID(id))
    case .room: self = .room(RoomID(id))
    case .channel: self = .channel(RoomID(id), of: WorkspaceID(container))
    case .member: self = .member(UserID(id), of: RoomID(container))
    case .readMarker: self = .readMarker(UserID(id), in: RoomID(container))
    case .user: self = .user(UserID(id))
    case .thread: self = .thread(UInt64(bigEndianBytes: rest), in: RoomID(container))
    case .message:
      let location = MessageLocation(
        thread: UInt64(bigEndianBytes: rest.prefix(8)), ordinal: UInt64(bigEndianBytes: rest.suffix(8)))
      self = .message(location, in: RoomID(container))
    case .gap: self = .gap(RoomID(id))
    }
  }
}

extension UInt64 {
  fileprivate var bigEndianBytes: [UInt8] { withUnsafeBytes(of: bigEndian) { Array($0) } }

  fileprivate init(bigEndianBytes bytes: some Sequence<UInt8>) { self = bytes.reduce(0) { $0 << 8 | UInt64($1) } }
}
