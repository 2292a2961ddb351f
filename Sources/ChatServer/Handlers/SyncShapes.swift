import ChatDomain
import ChatPrimitives
import ChatProjections
import ChatProtocol
import ChatService

import struct ChatProtocol.Device
import struct ChatProtocol.FollowedThread
import struct ChatProtocol.Invitation
import struct ChatProtocol.Member
import struct ChatProtocol.Room
import struct ChatProtocol.SyncGap
import struct ChatProtocol.SyncItem
import struct ChatProtocol.User
import struct ChatProtocol.Workspace
import struct ChatProtocol.WorkspaceMember

/// Converts the items of one page of the sync to those of the API.
struct SyncShapes: Sendable {
  private let profiles: [UserID: Profile]
  private let session: SessionID?
  private let log: UUIDBytes

  /// - Parameters:
  ///   - profiles: of all users whom the items of the page show.
  ///   - session: the session of the caller.
  ///   - log: the log's sixteen bytes.
  init(_ profiles: [UserID: Profile], session: SessionID?, log: UUIDBytes) {
    self.profiles = profiles
    self.session = session
    self.log = log
  }

  func item(_ item: ChatService.ChangedItem) -> SyncItem {
    if case .removed(let entity) = item.content { return tombstone(of: entity, item.revision) }
    var shape = SyncItem(type: item.content.type.rawValue, revision: item.revision)
    switch item.content {
    case .account(let row, let identities): shape.account = Account(row, identities)
    case .preferences(let preferences): shape.preferences = Preferences(preferences)
    case .device(let row): shape.device = Device(row.id, row.description, row.revision)
    case .session(let row): shape.session = Session(row, current: session)
    case .blockedUser(let row): shape.blockedUser = BlockedUser(row, among: profiles)
    case .workspace(let row): shape.workspace = Workspace(row)
    case .workspaceMember(let row, let workspace):
      shape.workspaceId = workspace
      shape.workspaceMember = WorkspaceMember(row, among: profiles)
    case .invitation(let row, let workspace): shape.invitation = Invitation(row, into: workspace, among: profiles)
    case .scheduledMessage(let row): shape.scheduledMessage = ScheduledMessage(row)
    case .room(let row): shape.room = Room(row)
    case .member(let row):
      shape.roomId = row.room
      shape.member = Member(row, among: profiles)
    case .readMarker(let row, let room):
      shape.roomId = room
      shape.readMarker = ReadReceipt(row, among: profiles)
    case .thread(let thread, let root):
      shape.roomId = thread.room
      shape.thread = FollowedThread(thread, root: root)
    case .message(let message): shape.message = Message(message)
    case .user(let user, let profile): shape.user = User(user, profile)
    case .badge(let row, let position): shape.badge = Badge(row, at: position)
    case .gap(let gap): shape.gap = SyncGap(gap, in: log)
    case .unfollowedThread(_, let root, let room):
      (shape.id, shape.roomId, shape.removed) = (root.description, room, true)
    case .removed: break
    }
    return shape
  }

  private func tombstone(of entity: SyncEntity, _ revision: LogPosition) -> SyncItem {
    var shape = SyncItem(type: entity.type.rawValue, revision: revision)
    shape.removed = true
    switch entity {
    case .account, .preferences: break
    case .device(let id): shape.id = id.description
    case .session(let id): shape.id = id.description
    case .blockedUser(let id), .user(let id): shape.id = id.description
    case .workspace(let id), .invitation(let id): shape.id = id.description
    case .workspaceMember(let user, let workspace): (shape.id, shape.workspaceId) = (user.description, workspace)
    case .scheduledMessage(let message, let room): (shape.id, shape.roomId) = (message.description, room)
    case .lostRoom(let id), .room(let id), .channel(let id, _): shape.id = id.description
    case .member(let user, let room), .readMarker(let user, let room):
      (shape.id, shape.roomId) = (user.description, room)
    // Never removed in this way.
    case .thread, .message, .gap: break
    }
    return shape
  }
}

extension SyncGap {
  fileprivate init(_ gap: ChatService.LeftOutMessages, in log: UUIDBytes) {
    let cursors = PageCursors(.messages, of: gap.room, in: log)
    self.init(roomId: gap.room, before: cursors.cursor(at: gap.before), until: gap.until)
  }
}
