public import ChatPrimitives

/// `GET /v1/sync`: what changed for the caller after a cursor, or the initial state, in the order of revisions.
public struct SyncPage: ResponseObject {
  public var items: [SyncItem]
  /// Where the next request continues: `since`.
  public var cursor: String
  /// Whether the next page can be requested at once.
  public var more: Bool

  public init(items: [SyncItem], cursor: String, more: Bool) {
    self.items = items
    self.cursor = cursor
    self.more = more
  }
}

/// An entity as it is now, in the field that has the name of its type, or a tombstone, in which `removed` is true.
/// Applying an item twice, or late, changes nothing: a client keeps an item unless it has a newer revision of the entity.
public struct SyncItem: Codable, Sendable, Hashable {
  /// Which field has the entity.
  public var type: String
  /// Where the entity last changed for the caller, or came into the caller's sight.
  public var revision: LogPosition
  /// In a tombstone, what was removed: a message, user, room, workspace, device or session; of a thread, its root.
  public var id: String?
  /// True in a tombstone; otherwise absent.
  public var removed: Bool?
  /// Of a member, read marker or thread, and in tombstones also of a scheduled message.
  public var roomId: RoomID?
  /// Of a member of a workspace.
  public var workspaceId: WorkspaceID?
  public var account: Account?
  public var preferences: Preferences?
  public var device: Device?
  public var session: Session?
  public var blockedUser: BlockedUser?
  public var workspace: Workspace?
  public var workspaceMember: WorkspaceMember?
  public var invitation: Invitation?
  public var scheduledMessage: ScheduledMessage?
  public var room: Room?
  public var member: Member?
  public var readMarker: ReadReceipt?
  public var thread: FollowedThread?
  public var message: Message?
  public var user: User?
  public var badge: Badge?
  public var gap: SyncGap?

  /// An item without an entity.
  public init(type: String, revision: LogPosition) {
    self.type = type
    self.revision = revision
  }
}

/// Messages of a room that a page leaves out.
public struct SyncGap: Codable, Sendable, Hashable {
  public var roomId: RoomID
  /// The cursor with which `GET /v1/rooms/{roomId}/messages` pages back through them.
  public var before: String
  /// The newest message that the client can have, where paging back can end; null if it must not rely on older messages.
  @Nullable public var until: MessageID?

  public init(roomId: RoomID, before: String, until: MessageID?) {
    self.roomId = roomId
    self.before = before
    self.until = until
  }
}
