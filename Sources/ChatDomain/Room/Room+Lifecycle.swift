package import ChatPrimitives

extension RoomEvent {
  package enum Lifecycle: Sendable, Equatable {
    case created(RoomCreation)
    case edited(RoomEdit)
    /// The room becomes read-only.
    case archived
    /// The archived room accepts messages again.
    case restored
    /// The room and everything in it are no longer visible to anybody.
    case deleted
  }
}

package struct RoomCreation: Sendable, Equatable {
  package var kind: RoomKind
  package var name: String
  /// Becomes the owner and first member; nil when a service made the room.
  package var creator: UserID?

  /// The workspace that the channel or the direct room belongs to; nil for other rooms.
  package var workspace: WorkspaceID?
  /// Members of the workspace who are not guests can find the room and join it.
  package var isPublic: Bool
  package var topic: String?
  /// For a direct room, all members including the creator; otherwise the users whom the creator adds at once. In the
  /// order of their IDs.
  package var participants: [UserID]
  /// The app's own data, as canonical JSON; nil if there is none. A direct room has none.
  package var custom: String?

  package init(
    kind: RoomKind, name: String, creator: UserID?, workspace: WorkspaceID? = nil, isPublic: Bool = false,
    topic: String? = nil, participants: [UserID] = [], custom: String? = nil
  ) {
    self.kind = kind
    self.name = name
    self.creator = creator
    self.workspace = workspace
    self.isPublic = isPublic
    self.topic = topic
    self.participants = participants
    self.custom = custom
  }

  /// For a direct room it depends only on the members and the workspace, so they all create the same room. Newer fields
  /// that a creation does not use are left out, so that older creations keep their fingerprints.
  package var fingerprint: Fingerprint {
    if kind == .direct, !participants.isEmpty {
      let place: [Fingerprint.Field] = workspace.map { [.text("workspace"), .id($0.uuid)] } ?? []
      return Fingerprint([.text("room.direct")] + participants.map { .id($0.uuid) } + place)
    }
    let plain: [Fingerprint.Field] = [.number(Int64(kind.rawValue)), .text(name), .id(creator?.uuid)]
    let users = participants.map { Fingerprint.Field.id($0.uuid) }
    let data = custom.map { [.text("custom"), .text($0)] as [Fingerprint.Field] } ?? []
    guard workspace != nil || isPublic || topic != nil || !(users + data).isEmpty else { return Fingerprint(plain) }
    return Fingerprint(plain + [.id(workspace?.uuid), .number(isPublic ? 1 : 0), .text(topic)] + users + data)
  }
}

/// The new parts of a room; nil leaves a part as it is.
package struct RoomEdit: Sendable, Hashable {
  package var name: String?
  /// An empty text removes it.
  package var topic: String?
  package var picture: PictureEdit?
  /// The app's own data, as canonical JSON. An empty text removes it.
  package var custom: String?

  package init(name: String? = nil, topic: String? = nil, picture: PictureEdit? = nil, custom: String? = nil) {
    self.name = name
    self.topic = topic
    self.picture = picture
    self.custom = custom
  }

  /// Whether it changes only the name. In the log, such an edit is of its own kind.
  package var isRenaming: Bool { name != nil && topic == nil && picture == nil && custom == nil }
}

/// The raw values are in the log; the names are in the API.
package enum RoomKind: UInt8, NamedValue {
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
    case .created(let creation):
      creation.name.byteCount + creation.topic.byteCount + creation.custom.byteCount + entryBytes(creation.participants)
    case .edited(let edit): edit.name.byteCount + edit.topic.byteCount + edit.custom.byteCount
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
  /// A change of only the name keeps the fingerprint that it had before there were other parts, and a change without
  /// data the one that it had before there was data.
  static func edit(_ edit: RoomEdit) -> Fingerprint {
    if edit.isRenaming { return Fingerprint(.text("room.rename"), .text(edit.name)) }
    guard let custom = edit.custom else {
      return Fingerprint([.text("room.edit"), .text(edit.name), .text(edit.topic)] + fields(of: edit.picture))
    }
    return Fingerprint(
      [.text("room.edit-custom"), .text(edit.name), .text(edit.topic), .text(custom)] + fields(of: edit.picture))
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

// MARK: - Commands

extension RoomCommand {
  package enum Lifecycle: Sendable, Equatable {
    case create(RoomCreation)
    case edit(RoomEdit)
    case archive
    /// Opens an archived room again.
    case restore
    case delete
  }
}

extension RoomCommand.Lifecycle: AggregateCommand {
  package func fingerprint(by actor: UserID?) -> Fingerprint {
    switch self {
    case .create(let creation): creation.fingerprint
    case .edit(let edit): .edit(edit)
    case .archive: .archiving
    case .restore: .restoring
    case .delete: .deleting
    }
  }

  package var isKnownByItself: Bool {
    switch self {
    case .create: true
    case .edit, .archive, .restore, .delete: false
    }
  }

  package var fieldFlaws: [FieldFlaw] {
    switch self {
    case .create(let creation): creation.fieldFlaws
    case .edit(let edit): edit.fieldFlaws
    case .archive, .restore, .delete: []
    }
  }

  package func addKeys(to lookup: inout Lookup, on room: RoomID, by actor: UserID?) {
    switch self {
    case .create, .delete: lookup.ending = .room(room)
    case .edit, .archive, .restore: break
    }
  }
}

extension RoomCreation {
  var fieldFlaws: [FieldFlaw] {
    var fields = FieldCheck()
    fields.check("/name") { () throws(Rejection) in try TextRules.roomName(name, of: kind) }
    if let topic { fields.check("/topic") { () throws(Rejection) in try TextRules.topic(topic) } }
    if let custom { fields.check("/custom") { () throws(Rejection) in try TextRules.customData(custom) } }
    return fields.flaws
  }
}

extension RoomEdit {
  /// A direct room cannot be edited, so the name always needs a visible character.
  var fieldFlaws: [FieldFlaw] {
    var fields = FieldCheck()
    if let name { fields.check("/name") { () throws(Rejection) in try TextRules.roomName(name, of: .group) } }
    if let topic { fields.check("/topic") { () throws(Rejection) in try TextRules.topic(topic) } }
    if let custom { fields.check("/custom") { () throws(Rejection) in try TextRules.customData(custom) } }
    return fields.flaws
  }
}

// MARK: - Decide

extension RoomDecider {
  func decide(
    _ command: RoomCommand.Lifecycle, _ directory: borrowing some Directory
  ) throws(Rejection) -> Decision<RoomEvent> {
    switch command {
    case .create(let creation): try create(creation, directory)
    case .edit(let edit): try self.edit(edit, directory)
    case .archive: try archive(directory)
    case .restore: try restore(directory)
    case .delete: try delete(directory)
    }
  }

  private func create(
    _ creation: RoomCreation, _ directory: borrowing some Directory
  ) throws(Rejection) -> Decision<RoomEvent> {
    try requireRightToCreate(creation, directory)
    switch state {
    case .open(let room), .archived(let room, _):
      // A direct room's ID is derived from its members, so it is the same room even if its creation was erased.
      let isErasedDirect = creation.kind == .direct && room.creationFingerprint == nil
      guard isErasedDirect || room.creationFingerprint == creation.fingerprint else { throw .idInUse }
      return try find(creation, as: room, directory)
    case .deleted(_, let fingerprint):
      // A retry of the creation finds the room deleted.
      throw fingerprint == creation.fingerprint ? .roomNotFound : .idInUse
    case .absent:
      break
    }
    try creation.fieldFlaws.requireNone()
    if creation.kind == .direct { return try createDirect(creation, directory) }
    if let workspace = creation.workspace {
      guard let channels = directory.channels(of: workspace) else { throw .workspaceNotFound }
      guard channels.count < Limits.channelsPerWorkspace else { throw .tooManyChannels }
    }
    for user in creation.participants {
      try directory.requireRegistered(user)
      try requireAdmissible(user, from: creation.workspace, directory)
      try requireAddition(of: user, in: creation.workspace, directory)
    }
    let owner: [RoomEvent] = creation.creator.map { [.members(.joined($0, role: .owner, invite: nil))] } ?? []
    return .record(
      [.lifecycle(.created(creation))] + owner + creation.participants.map { .members(.added($0, role: .member)) })
  }

  /// A channel needs a member of the workspace who is not a guest, and a direct room one of its members. See
  /// `createDirect` for guests who create direct rooms.
  private func requireRightToCreate(
    _ creation: RoomCreation, _ directory: borrowing some Directory
  ) throws(Rejection) {
    guard let creator = creation.creator else {
      guard context.isByService else { throw .serviceOnly }
      return
    }
    guard creator == context.actor else { throw .forbidden }
    try requireRegisteredActor(directory)
    if creation.kind == .direct {
      guard creation.participants.contains(creator) else { throw .forbidden }
    }
    if let workspace = creation.workspace {
      guard let role = directory.role(of: creator, in: workspace) else { throw .workspaceNotFound }
      guard role >= .member || creation.kind == .direct else { throw .forbidden }
    }
  }

  /// All members join at once with the same role: a direct room has no owner. It needs another member; for notes, a
  /// group without others is enough.
  private func createDirect(
    _ creation: RoomCreation, _ directory: borrowing some Directory
  ) throws(Rejection) -> Decision<RoomEvent> {
    guard let creator = creation.creator else { throw .forbidden }
    let others = creation.participants.filter { $0 != creator }
    guard (1...Limits.directRoomOthers).contains(others.count) else { throw .directMembersOutOfRange }
    for user in others { try directory.requireRegistered(user) }
    try requirePlace(for: creation, by: creator, directory)
    try requireDirectMessages(of: creator, to: others, directory)
    return .record(
      [.lifecycle(.created(creation)), .members(.joined(creator, role: .member, invite: nil))]
        + others.map { .members(.added($0, role: .member)) })
  }

  /// All members of a workspace's direct room are in the workspace, and the first is not a guest there: guests do not
  /// know who else is.
  private func requirePlace(
    for creation: RoomCreation, by creator: UserID, _ directory: borrowing some Directory
  ) throws(Rejection) {
    guard let workspace = creation.workspace else { return }
    guard let role = directory.role(of: creator, in: workspace), role >= .member else { throw .forbidden }
    for user in creation.participants {
      try requireAdmissible(user, from: workspace, directory)
      guard directory.directRooms(of: user, in: workspace).count < Limits.directRoomsPerUserAndWorkspace else {
        throw .tooManyDirectRooms
      }
    }
  }

  /// A room that exists. A member of a workspace's direct room who left the workspace and returned becomes a member again
  /// with the next request for the room. The fingerprint of these events is not that of the command, which is recognised
  /// by the room's ID.
  private func find(
    _ creation: RoomCreation, as room: Room, _ directory: borrowing some Directory
  ) throws(Rejection) -> Decision<RoomEvent> {
    guard room.kind == .direct, let workspace = room.workspace, let creator = creation.creator else {
      return .alreadyDone(room.created)
    }
    var events: [RoomEvent] = []
    for user in creation.participants where room.members[user] == nil {
      guard directory.role(of: user, in: workspace) != nil else { continue }
      let isPlaceLeft =
        directory.directRooms(of: user, in: workspace).count < Limits.directRoomsPerUserAndWorkspace
      if user == creator {
        guard isPlaceLeft else { throw .tooManyDirectRooms }
        events.append(.members(.joined(user, role: .member, invite: nil)))
      } else if isPlaceLeft, acceptsDirectRoom(from: creator, user, directory) {
        events.append(.members(.added(user, role: .member)))
      }
    }
    return events.isEmpty ? .alreadyDone(room.created) : .recordAgain(events)
  }

  /// Recorded even when nothing changes: the event has the idempotency key by which a late retry is recognised.
  private func edit(_ edit: RoomEdit, _ directory: borrowing some Directory) throws(Rejection) -> Decision<RoomEvent> {
    try requireAdministrator(directory)
    if let done = try doneBefore() { return done }
    let room = try openRoom()
    try edit.fieldFlaws.requireNone()
    return .record([.lifecycle(.edited(edit))], revision: room.revision)
  }

  /// Under a key it is recorded again, so that a late retry is recognised after the room has been restored.
  private func archive(_ directory: borrowing some Directory) throws(Rejection) -> Decision<RoomEvent> {
    try requireAdministrator(directory)
    if let done = try doneBefore() { return done }
    let revision = try room().revision
    if case .archived(_, let since) = state, context.command == nil { return .alreadyDone(since) }
    return .record([.lifecycle(.archived)], revision: revision)
  }

  /// The time of the last restore is not stored, so for an open room the response has the creation's stamp.
  private func restore(_ directory: borrowing some Directory) throws(Rejection) -> Decision<RoomEvent> {
    try requireAdministrator(directory)
    if let done = try doneBefore() { return done }
    let revision = try room().revision
    if case .open(let room) = state, context.command == nil { return .alreadyDone(room.created) }
    return .record([.lifecycle(.restored)], revision: revision)
  }

  /// Works for open and archived rooms.
  private func delete(_ directory: borrowing some Directory) throws(Rejection) -> Decision<RoomEvent> {
    try requireRightToDelete(directory)
    if let done = try doneBefore() { return done }
    return .record([.lifecycle(.deleted)], revision: try room().revision)
  }

  /// The owner can delete the room, and the workspace's administrators can delete its public channels. A deleted room
  /// is not checked here: a retry is recognised by its key, and anything else is rejected afterwards.
  private func requireRightToDelete(_ directory: borrowing some Directory) throws(Rejection) {
    if case .deleted = state { return }
    let room = try changeableRoom(directory)
    guard let user = context.actor else { return }
    let isOverseen = room.isOverseen(by: user, directory)
    guard isOverseen || room.members[user]?.role == .owner else { throw .forbidden }
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
      // `RoomDecider.evolve` handles these, because they replace the whole state.
      break
    }
  }
}
