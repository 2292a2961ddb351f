package import ChatPrimitives

extension RoomEvent {
  package enum Lifecycle: Sendable, Equatable {
    case created(RoomCreation)
    case edited(RoomEdit)
    /// The room can only be read.
    case archived
    /// Open again after it was archived.
    case restored
    /// Gone for everybody, with everything that was said in it.
    case deleted
  }
}

package struct RoomCreation: Sendable, Equatable {
  package var kind: RoomKind
  package var name: String
  /// Becomes the owner and first member; nil when a service made the room.
  package var creator: UserID?

  /// Whose channel it is.
  package var workspace: WorkspaceID?
  /// Every member of the workspace, guests excepted, may find it and come in.
  package var isPublic: Bool
  package var topic: String?
  /// Of a direct room: all of its members, the creator included, in the order of their IDs. Empty for any other.
  package var participants: [UserID]

  package init(
    kind: RoomKind, name: String, creator: UserID?, workspace: WorkspaceID? = nil, isPublic: Bool = false,
    topic: String? = nil, participants: [UserID] = []
  ) {
    self.kind = kind
    self.name = name
    self.creator = creator
    self.workspace = workspace
    self.isPublic = isPublic
    self.topic = topic
    self.participants = participants
  }

  /// A direct room is told by its members alone: whoever of them asks for it means the same one.
  package var fingerprint: Fingerprint {
    if kind == .direct, !participants.isEmpty {
      return Fingerprint([.text("room.direct")] + participants.map { .id($0.uuid) })
    }
    let plain: [Fingerprint.Field] = [.number(Int64(kind.rawValue)), .text(name), .id(creator?.uuid)]
    guard workspace != nil || isPublic || topic != nil else { return Fingerprint(plain) }
    return Fingerprint(plain + [.id(workspace?.uuid), .number(isPublic ? 1 : 0), .text(topic)])
  }
}

/// What is put in the place of what; nil leaves a part as it is.
package struct RoomEdit: Sendable, Hashable {
  package var name: String?
  /// An empty text takes it away.
  package var topic: String?
  package var picture: PictureEdit?

  package init(name: String? = nil, topic: String? = nil, picture: PictureEdit? = nil) {
    self.name = name
    self.topic = topic
    self.picture = picture
  }
}

/// The raw values stand in the log; the names in the API.
package enum RoomKind: UInt8, Sendable, CaseIterable {
  case group = 1
  case direct = 2
  case channel = 3

  package var name: String {
    switch self {
    case .group: "group"
    case .direct: "direct"
    case .channel: "channel"
    }
  }
}

extension RoomEvent.Lifecycle: EventFamily {
  package var fingerprint: Fingerprint? {
    switch self {
    case .created(let creation): creation.fingerprint
    case .edited(let edit): .edit(edit)
    case .archived: .archiving
    case .restored: .restoring
    case .deleted: .deleting
    }
  }

  var textBytes: Int {
    switch self {
    case .created(let creation): creation.name.byteCount + creation.topic.byteCount + entryBytes(creation.participants)
    case .edited(let edit): edit.name.byteCount + edit.topic.byteCount
    case .archived, .restored, .deleted: 0
    }
  }

  var isUpkeep: Bool {
    switch self {
    case .deleted: true
    case .created, .edited, .archived, .restored: false
    }
  }
}

extension Fingerprint {
  /// A change of the name alone has the fingerprint that it had before there were other parts.
  static func edit(_ edit: RoomEdit) -> Fingerprint {
    if let name = edit.name, edit.topic == nil, edit.picture == nil {
      return Fingerprint(.text("room.rename"), .text(name))
    }
    return Fingerprint([.text("room.edit"), .text(edit.name), .text(edit.topic)] + fields(of: edit.picture))
  }

  static func fields(of picture: PictureEdit?) -> [Field] {
    switch picture {
    case nil: [.number(0)]
    case .remove: [.number(1)]
    case .set(let media): [.number(2), .id(media.uuid)]
    }
  }

  static var archiving: Fingerprint { Fingerprint(.text("room.archive")) }
  static var restoring: Fingerprint { Fingerprint(.text("room.restore")) }
  static var deleting: Fingerprint { Fingerprint(.text("room.delete")) }
}

// MARK: - Decide

extension RoomDecider {
  static func create(
    _ creation: RoomCreation, in state: RoomState, _ directory: borrowing some Directory
  ) throws(Rejection) -> Decision<RoomEvent> {
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
  ) throws(Rejection) -> Decision<RoomEvent> {
    try TextRules.roomName(creation.name, of: creation.kind)
    if let topic = creation.topic { try TextRules.topic(topic) }
    if creation.kind == .direct { return try createDirect(creation, directory) }
    if let workspace = creation.workspace {
      guard let channels = directory.channels(of: workspace) else { throw .workspaceNotFound }
      guard channels.count < Limits.channelsPerWorkspace else { throw .tooManyChannels }
    }
    guard let creator = creation.creator else { return .record([.lifecycle(.created(creation))]) }
    return .record([.lifecycle(.created(creation)), .members(.joined(creator, role: .owner, invite: nil))])
  }

  /// All come in at once, with the same role: nobody owns a direct room. One with oneself alone there is not, for a group
  /// without others serves for notes.
  private static func createDirect(
    _ creation: RoomCreation, _ directory: borrowing some Directory
  ) throws(Rejection) -> Decision<RoomEvent> {
    guard let creator = creation.creator else { throw .forbidden }
    let others = creation.participants.filter { $0 != creator }
    guard (1...Limits.directRoomOthers).contains(others.count) else { throw .directMembersOutOfRange }
    for user in others {
      guard directory.isRegistered(user) else { throw .userNotFound }
    }
    return .record(
      [.lifecycle(.created(creation)), .members(.joined(creator, role: .member, invite: nil))]
        + others.map { .members(.added($0, role: .member)) })
  }

  /// Recorded even when nothing changes: the event carries the idempotency key by which a late retry is known.
  static func edit(_ edit: RoomEdit, in state: RoomState) throws(Rejection) -> Decision<RoomEvent> {
    let room = try openRoom(state)
    if let name = edit.name { try TextRules.roomName(name, of: room.kind) }
    if let topic = edit.topic { try TextRules.topic(topic) }
    return .record([.lifecycle(.edited(edit))])
  }

  /// Under a key it is recorded again, for only so is its late retry known when the room was opened since.
  static func archive(by context: CommandContext, _ state: RoomState) throws(Rejection) -> Decision<RoomEvent> {
    switch state {
    case .absent, .deleted: throw .roomNotFound
    case .open: .record([.lifecycle(.archived)])
    case .archived(_, let since): context.command == nil ? .alreadyDone(since) : .record([.lifecycle(.archived)])
    }
  }

  /// Where a room that is open was last opened again is not kept: it answers with the creation.
  static func restore(by context: CommandContext, _ state: RoomState) throws(Rejection) -> Decision<RoomEvent> {
    switch state {
    case .absent, .deleted: throw .roomNotFound
    case .open(let room): context.command == nil ? .alreadyDone(room.created) : .record([.lifecycle(.restored)])
    case .archived: .record([.lifecycle(.restored)])
    }
  }

  /// Of an open room or an archived one.
  static func delete(_ state: RoomState) throws(Rejection) -> Decision<RoomEvent> {
    _ = try room(state)
    return .record([.lifecycle(.deleted)])
  }
}

// MARK: - Evolve

extension Room {
  mutating func apply(_ event: RoomEvent.Lifecycle, _ stamp: Stamp) {
    switch event {
    case .edited(let edit):
      if let name = edit.name { self.name = name }
      revision = stamp.position
    case .created, .archived, .restored, .deleted:
      // What archives, restores or deletes the room changes its state: see `RoomDecider.evolve`.
      break
    }
  }
}
