package import ChatDomain
package import ChatPrimitives
package import ChatProjections

/// An entity as it is now, or the news that it is gone.
package struct SyncItem: Sendable, Hashable {
  /// Where the entity last changed for the user, or came into the user's sight.
  package var revision: LogPosition
  package var content: Content
  /// Set if many users get this item.
  package var encoded: EncodedOnce?

  init(revision: LogPosition, content: Content, encoded: EncodedOnce? = nil) {
    self.revision = revision
    self.content = content
    self.encoded = encoded
  }

  package static func == (left: SyncItem, right: SyncItem) -> Bool {
    left.revision == right.revision && left.content == right.content
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(revision)
    hasher.combine(content)
  }

  package enum Content: Sendable, Hashable {
    case account(UserRow, [IdentityRow])
    case preferences(UserPreferences)
    case device(DeviceRow)
    case session(SessionRow)
    case blockedUser(BlockedUserRow)
    case workspace(WorkspaceListRow)
    case workspaceMember(WorkspaceMemberRow, of: WorkspaceID)
    case invitation(InvitationRow, WorkspaceRow)
    case scheduledMessage(ScheduledRow)
    case room(RoomListRow)
    case member(MemberRow)
    case readMarker(ReceiptRow, in: RoomID)
    case thread(FollowedThread, root: ShownMessage)
    case message(ShownMessage)
    case user(UserID, Profile)
    /// The user's unread counts, and the position that they reflect. Only in the initial state.
    case badge(BadgeRow, LogPosition)
    case gap(SyncGap)
    /// The client removes the thread from those that the user follows. The replies are not affected.
    /// - Parameters:
    ///   - ordinal: the root's ordinal in the room.
    ///   - root: the root's ID.
    case unfollowedThread(_ ordinal: UInt64, root: MessageID, in: RoomID)
    /// The client removes the entity, and what it has of it. Never a thread.
    case removed(SyncEntity)
  }
}

/// Messages of a room that are not sent. The client can load them with the room's pages, back from `before`.
package struct SyncGap: Sendable, Hashable {
  package var room: RoomID
  /// Only messages with lower ordinals are not sent.
  package var before: UInt64
  /// The newest message before the gap that the client can have. If nil, older messages that changed, and replies, are
  /// not sent either, so the client discards its messages before `before` and its replies in the room.
  package var until: MessageID?

  package init(room: RoomID, before: UInt64, until: MessageID? = nil) {
    self.room = room
    self.before = before
    self.until = until
  }
}

/// What a response contains, and where the next one continues.
package struct SyncPage: Sendable, Hashable {
  package var items: [SyncItem]
  /// Of all users whom the items show.
  package var profiles: [UserID: Profile]
  package var next: SyncPosition
  /// Whether the next page can be asked for at once.
  package var more: Bool
}

extension SyncItem.Content {
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
    case .room: .room
    case .member: .member
    case .readMarker: .readMarker
    case .thread: .thread
    case .message: .message
    case .user: .user
    case .badge: .badge
    case .gap: .gap
    case .unfollowedThread: .thread
    case .removed(let entity): entity.type
    }
  }

  /// The users whom the client must know to show this.
  var users: [UserID] {
    switch self {
    case .blockedUser(let row): [row.user]
    case .workspaceMember(let row, _): [row.user]
    case .invitation(let row, _): [row.user] + [row.inviter].compactMap { $0 }
    case .room(let row): row.participants + [row.room.lastMessage?.sender].compactMap { $0 }
    case .member(let row): [row.user]
    case .readMarker(let row, _): [row.user]
    case .thread(_, let root): root.users
    case .message(let message): message.users
    case .account, .preferences, .device, .session, .workspace, .scheduledMessage, .user, .badge, .gap,
      .unfollowedThread, .removed:
      []
    }
  }

  /// Approximate number of bytes that it adds to a response.
  var contentBytes: Int {
    switch self {
    case .message(let message), .thread(_, let message): message.row.contentBytes
    case .room(let row): row.contentBytes
    case .scheduledMessage(let row): row.contentBytes
    default: 0
    }
  }
}

extension ShownMessage {
  /// The sender, the users mentioned by name or quoted, and the shown participants of the thread.
  fileprivate var users: [UserID] {
    [row.sender] + (row.details?.mentions.users ?? []) + [annotations.quote?.sender].compactMap { $0 }
      + (annotations.thread?.participants ?? [])
  }
}
