import ChatDomain
import ChatPrimitives

/// One room: a group, a channel of a workspace, or a direct room of a few users.
struct ModelRoom {
  let id: RoomID
  var creation: RoomCreation?
  var creator: UserID?
  var created: Stamp?
  var name = ""
  var topic: String?
  var picture: MediaID?
  var custom: String?
  /// The position at which it was last created, edited, archived or opened again.
  var revision = LogPosition.origin
  var archived: Stamp?
  var isDeleted = false
  /// In the order in which they joined.
  var members: [ModelMember] = []
  /// Whether the room has ever had an owner.
  var hasHadOwner = false
  var banned: [ModelBan] = []
  /// Until when users are silenced. The silence also applies to a user who leaves and rejoins.
  var silences: [UserID: Timestamp] = [:]
  /// In the order of their creation.
  var invites: [ModelInvite<Role>] = []
  /// The messages of the room's own timeline and of all threads, in the order in which they were sent.
  var messages: [ModelMessage] = []
  var joinHistory: [JoinHistoryEntry] = []
  var scheduled: [ModelScheduled] = []
  /// Every ID under which a message was ever scheduled, with the original request.
  var schedulings: [ModelScheduling] = []
  /// In the order in which they were filed.
  var reports: [ModelReport] = []

  init(id: RoomID) {
    self.id = id
  }

  var kind: RoomKind { creation?.kind ?? .group }
  var isPublic: Bool { creation?.isPublic ?? false }
  var exists: Bool { creation != nil && !isDeleted }

  func member(_ user: UserID) -> ModelMember? { members.first { $0.user == user } }
  func isBanned(_ user: UserID) -> Bool { banned.contains { $0.user == user } }

  /// The room's own messages by their ordinals, including deleted ones.
  var timeline: [ModelMessage] { messages.filter { !$0.location.isInThread } }
  func thread(of root: MessageID) -> [ModelMessage] { messages.filter { $0.root == root } }
  func message(_ id: MessageID) -> ModelMessage? { messages.first { $0.id == id } }

  var lastOrdinal: UInt64 { UInt64(timeline.count) }
  var lastMessage: ModelMessage? { timeline.last }
  /// The generator draws rooms in the order of their creation, because the ID of a direct room differs between runs.
  var age: LogPosition { created?.position ?? .origin }
  /// The sort key of room lists.
  var activity: LogPosition { lastMessage?.sent.position ?? created?.position ?? .origin }
}

struct ModelMember: Equatable {
  let user: UserID
  var role: Role
  let joined: Stamp
  /// The room's last ordinal at the time of the join.
  let joinedOrdinal: UInt64
  /// The ordinal up to which the member has read.
  var marker: UInt64
  /// The message at the marker, and since when the marker is there; nil if it has not moved since the join.
  var markerMessage: MessageID?
  var markerMoved: Timestamp?
  /// This ordinal and all after it are shown as unread, because the member asked for it.
  var unreadFrom: UInt64?
  var mutedUntil: Timestamp?
  var notifications: NotificationLevel?
  var silencedUntil: Timestamp?
  /// The member's relation to threads, by root.
  var threads: [MessageID: ThreadState] = [:]
}

/// The relation of a member to one thread.
struct ThreadState: Equatable {
  var follows: Bool
  /// The last ordinal of the thread that is read.
  var marker: UInt64
}

struct ModelBan: Equatable {
  let user: UserID
  let by: UserID?
  let stamp: Stamp
}

/// A link and its later state.
struct ModelInvite<GivenRole: InvitableRole>: Equatable {
  let link: InviteLink<GivenRole>
  let created: Stamp
  let creator: UserID?
  var uses: UInt64 = 0
  var revoked: Stamp?
}

/// One entry of the join history.
struct JoinHistoryEntry: Equatable {
  enum What: Equatable {
    case joined(Role, by: InviteID?)
    case added(Role)
    case left
    case removed
    case banned
    case unbanned
    case roleChanged(Role)
  }
  let user: UserID
  let what: What
  let by: UserID?
  let stamp: Stamp
}

struct ModelScheduled: Equatable {
  let id: MessageID
  var message: ScheduledMessage
  /// When it was scheduled.
  let scheduled: Stamp
  var revision: LogPosition
  var failure: SchedulingFailure?
  var failed: Stamp?
}

struct ModelScheduling: Equatable {
  let id: MessageID
  let author: UserID
  let scheduled: Stamp
  let fingerprint: Fingerprint
}

extension ModelRoom {
  /// - Parameter blockers: everyone who blocks the author of what is sent or edited.
  mutating func take(_ event: RoomEvent, _ recorded: RecordedEvent, blockers: Set<UserID>) {
    switch event {
    case .lifecycle:
      takeRoom(event, recorded)
    case .sharing: takeInvite(event, recorded)
    case .members(.joined), .members(.added), .members(.left), .members(.removed), .members(.roleChanged),
      .members(.banned), .members(.unbanned):
      takeMembership(event, recorded)
    case .members(.admissionRepeated): break
    case .members(.silenced(let user, let until)):
      silences[user] = until
      change(user) { $0.silencedUntil = until }
    case .members(.muted(let user, let until)): change(user) { $0.mutedUntil = until }
    case .members(.notificationsSet(let user, let level)): change(user) { $0.notifications = level }
    // No command of a run hides a room.
    case .members(.hidden), .members(.shown): break
    case .messages(.sent(let message, let author, let location, let content)):
      send(message, author, location, content, recorded, blockers: blockers)
    case .messages(.edited(let message, _, let edit)):
      self.edit(message, edit, recorded, blockers: blockers)
    case .messages(.deleted(let message, _)): change(message) { $0.delete(recorded) }
    case .annotations:
      takeAnnotation(event, recorded)
    case .reading, .threads:
      takeReading(event, recorded)
    case .scheduling:
      takeSchedule(event, recorded)
    case .reports(let event): takeReport(event, recorded)
    case .erased: break
    }
  }

  private mutating func takeRoom(_ event: RoomEvent, _ recorded: RecordedEvent) {
    // A command that changes nothing is recorded again only for the key.
    if case .lifecycle(.archived) = event, archived != nil { return }
    if case .lifecycle(.restored) = event, archived == nil { return }
    revision = recorded.position
    if case .lifecycle(.created(let creation)) = event {
      self.creation = creation
      creator = creation.creator
      created = recorded.stamp
      name = creation.name
      topic = creation.topic
      custom = creation.custom
    } else if case .lifecycle(.edited(let edit)) = event {
      if let name = edit.name { self.name = name }
      if let topic = edit.topic { self.topic = topic.isEmpty ? nil : topic }
      if case .set(let media) = edit.picture { picture = media }
      if case .remove = edit.picture { picture = nil }
      if let custom = edit.custom { self.custom = custom.isEmpty ? nil : custom }
    } else if case .lifecycle(.archived) = event {
      archived = recorded.stamp
    } else if case .lifecycle(.restored) = event {
      archived = nil
    } else {
      isDeleted = true
      closeReports(recorded)
    }
  }

  private mutating func takeInvite(_ event: RoomEvent, _ recorded: RecordedEvent) {
    if case .sharing(.inviteCreated(let link)) = event {
      invites.append(ModelInvite(link: link, created: recorded.stamp, creator: recorded.actor))
    } else if case .sharing(.inviteRevoked(let id)) = event, let index = invites.firstIndex(where: { $0.link.id == id })
    {
      invites[index].revoked = recorded.stamp
    }
  }

  private mutating func takeMembership(_ event: RoomEvent, _ recorded: RecordedEvent) {
    func note(_ user: UserID, _ what: JoinHistoryEntry.What) {
      joinHistory.append(JoinHistoryEntry(user: user, what: what, by: recorded.actor, stamp: recorded.stamp))
    }
    switch event {
    case .members(.joined(let user, let role, let invite)):
      admit(user, role, recorded)
      if let index = invites.firstIndex(where: { $0.link.id == invite }) { invites[index].uses += 1 }
      note(user, .joined(role, by: invite))
    case .members(.added(let user, let role)):
      admit(user, role, recorded)
      note(user, .added(role))
    case .members(.left(let user)):
      members.removeAll { $0.user == user }
      note(user, .left)
    case .members(.removed(let user)):
      members.removeAll { $0.user == user }
      note(user, .removed)
    case .members(.banned(let user)):
      if isBanned(user) { return }
      members.removeAll { $0.user == user }
      banned.append(ModelBan(user: user, by: recorded.actor, stamp: recorded.stamp))
      note(user, .banned)
    case .members(.unbanned(let user)):
      if !isBanned(user) { return }
      banned.removeAll { $0.user == user }
      note(user, .unbanned)
    case .members(.roleChanged(let user, let role)):
      change(user) { $0.role = role }
      note(user, .roleChanged(role))
    default: break
    }
    if members.contains(where: { $0.role == .owner }) { hasHadOwner = true }
  }

  /// Adds a member. All earlier messages count as read, even for a user who was a member before.
  private mutating func admit(_ user: UserID, _ role: Role, _ recorded: RecordedEvent) {
    members.removeAll { $0.user == user }
    var member = ModelMember(
      user: user, role: role, joined: recorded.stamp, joinedOrdinal: lastOrdinal, marker: lastOrdinal)
    if let until = silences[user], until > recorded.stamp.time { member.silencedUntil = until }
    members.append(member)
  }

  mutating func change(_ user: UserID, _ body: (inout ModelMember) -> Void) {
    guard let index = members.firstIndex(where: { $0.user == user }) else { return }
    body(&members[index])
  }

  mutating func change(_ message: MessageID, _ body: (inout ModelMessage) -> Void) {
    guard let index = messages.firstIndex(where: { $0.id == message }) else { return }
    body(&messages[index])
  }
}
