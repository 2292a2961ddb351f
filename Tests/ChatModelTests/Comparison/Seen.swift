import ChatDomain
import ChatPrimitives
import ChatProjections

struct SeenMember: Equatable {
  let user: UserID
  let role: Role
  let joined: Stamp
  let joinedOrdinal: UInt64
  let marker: UInt64
  let mutedUntil: Timestamp?
  let notifications: NotificationLevel?
  let silencedUntil: Timestamp?
  /// The message at the read marker, and since when the marker is there.
  let readMessage: MessageID?
  let readAt: Timestamp?
  let unreadFrom: UInt64?

  init(_ member: ModelMember) {
    user = member.user
    role = member.role
    joined = member.joined
    joinedOrdinal = member.joinedOrdinal
    marker = member.marker
    mutedUntil = member.mutedUntil
    notifications = member.notifications
    silencedUntil = member.silencedUntil
    readMessage = member.markerMessage
    readAt = member.markerMoved
    unreadFrom = member.unreadFrom
  }

  init(_ row: MemberRow) {
    user = row.user
    role = row.role
    joined = row.joined
    joinedOrdinal = row.joinedOrdinal
    marker = row.marker
    mutedUntil = row.mutedUntil
    notifications = row.notifications
    silencedUntil = row.silencedUntil
    readMessage = row.read?.message
    readAt = row.read?.time
    unreadFrom = row.unread?.ordinal
  }
}

/// A room as one user sees it.
struct SeenRoom: Equatable {
  let id: RoomID
  let kind: RoomKind
  let name: String
  let topic: String?
  let picture: MediaID?
  let custom: String?
  let workspace: WorkspaceID?
  let isPublic: Bool
  let participants: [UserID]
  let creator: UserID?
  let created: Stamp?
  let revision: LogPosition
  let archived: Stamp?
  let lastOrdinal: UInt64
  let memberCount: Int
  let deletedCount: Int
  let activity: LogPosition
  let lastMessage: SeenMessage?
  /// Nil for a user who only finds the room.
  let member: SeenMember?
  let unread: Int
  let mentions: Int
  let isLastFromBlockedUser: Bool

  /// - Parameter member: nil for a user who only finds the room, and so sees no messages.
  init(_ room: ModelRoom, _ member: ModelMember?, _ model: ChatModel) {
    id = room.id
    kind = room.kind
    name = room.name
    topic = room.topic
    picture = room.picture
    custom = room.custom
    workspace = room.creation?.workspace
    isPublic = room.isPublic
    participants = room.kind == .direct ? room.members.map(\.user).sorted() : []
    creator = room.creator
    created = room.created
    revision = room.revision
    archived = room.archived
    lastOrdinal = room.lastOrdinal
    memberCount = room.members.count
    deletedCount = room.timeline.count { $0.isDeleted }
    activity = room.activity
    lastMessage = member == nil ? nil : room.lastMessage.map { SeenMessage($0) }
    self.member = member.map { SeenMember($0) }
    unread = member.map { room.unread(for: $0.user) } ?? 0
    mentions = member.map { room.mentions(for: $0.user) } ?? 0
    let reader = member.flatMap { model.users[$0.user] }
    isLastFromBlockedUser = room.lastMessage.map { reader?.blocks($0.author) == true } ?? false
  }

  init(_ row: RoomListRow) {
    id = row.room.id
    kind = row.room.kind
    name = row.room.name
    topic = row.room.topic
    picture = row.room.picture
    custom = row.custom
    workspace = row.room.workspace
    isPublic = row.room.isPublic
    participants = row.participants
    creator = row.room.creator
    created = row.room.created
    revision = row.room.revision
    archived = row.room.archived
    lastOrdinal = row.room.lastOrdinal
    memberCount = Int(row.room.memberCount)
    deletedCount = Int(row.room.deletedCount)
    activity = row.room.activity
    lastMessage = row.room.lastMessage.map { SeenMessage($0) }
    member = row.member.map { SeenMember($0) }
    unread = Int(row.unreadCount)
    mentions = Int(row.mentionCount)
    isLastFromBlockedUser = row.isLastFromBlockedUser
  }
}

struct SeenInvite<GivenRole: InvitableRole>: Equatable {
  let link: InviteLink<GivenRole>
  let uses: UInt64
  let created: Stamp
  let creator: UserID?
  let revoked: Stamp?

  init(_ invite: ModelInvite<GivenRole>) {
    link = invite.link
    uses = invite.uses
    created = invite.created
    creator = invite.creator
    revoked = invite.revoked
  }

  init<Space>(_ row: InviteLinkRow<Space, GivenRole>) {
    link = row.invite
    uses = row.uses
    created = row.created
    creator = row.creator
    revoked = row.revoked
  }
}

struct SeenUser: Equatable {
  let nickname: String?
  let picture: MediaID?
  let custom: String?
  let isGuest: Bool
  let hasPassword: Bool
  let disabled: Stamp?
  let email: String?
  let externalID: String?
  let registered: Stamp?
  let revision: LogPosition

  init(_ user: ModelUser) {
    nickname = user.profile?.nickname
    picture = user.profile?.picture
    custom = user.custom
    isGuest = user.isGuest
    hasPassword = user.credential != nil
    disabled = user.disabled
    email = user.email
    externalID = user.externalID
    registered = user.registered
    revision = user.revision
  }

  init(_ row: UserRow) {
    nickname = row.nickname
    picture = row.picture
    custom = row.custom
    isGuest = row.isGuest
    hasPassword = row.hasPassword
    disabled = row.disabled
    email = row.email
    externalID = row.externalID
    registered = row.registered
    revision = row.revision
  }
}

extension ModelSession {
  init(_ row: SessionRow) {
    self.init(
      id: row.id, device: row.device, generation: row.generation, started: row.started, pair: row.pair,
      end: row.end?.reason, ended: row.end?.stamp)
  }
}

extension ModelDevice {
  init(_ row: DeviceRow) {
    self.init(
      id: row.id, description: row.description, registered: row.registered, revision: row.revision,
      updatedAt: row.updatedAt)
  }

  /// The device as read models show it, with the tokens in the order of their providers.
  var shown: ModelDevice {
    var shown = self
    shown.description.tokens.sort { $0.provider.rawValue < $1.provider.rawValue }
    return shown
  }
}
