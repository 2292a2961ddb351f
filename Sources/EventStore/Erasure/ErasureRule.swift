package import ChatDomain
package import ChatPrimitives
package import EventLog
import SwiftProtobuf

/// Which payloads an erasure removes; see decision 0041.
///
/// In the user's own stream, it removes all payloads. In the streams of other users, it removes only those with a push
/// token that the user's device took from theirs. In other streams, it removes the payloads of kinds that have content:
/// what the user wrote, or something by which the user can be recognised or reached. The other kinds have IDs, numbers,
/// roles and flags, and rooms that others use depend on them.
package struct ErasureRule: Sendable {
  static let userDeleted: UInt16 = 50
  static let userErased: UInt16 = 51
  private static let pushTokenMoved: UInt16 = 24
  static let legalHoldPlaced: UInt16 = 210
  static let legalHoldLifted: UInt16 = 211
  static let roomDeleted: UInt16 = 104
  private static let workspaceDeleted: UInt16 = 302

  /// The kinds with content in rooms: messages, edits, reactions, scheduled messages, reports and their resolutions.
  static let withContent: Set<UInt16> = [130, 131, 133, 134, 137, 160, 161, 170, 171]

  /// The other kinds outside users' streams. A test requires that every kind is in one of the two lists.
  static let withoutContent: Set<UInt16> = [
    100, 101, 102, 103, 104, 105, 110, 111, 120, 121, 122, 123, 124, 125, 126, 127, 128, 129, 132, 135, 136, 140, 141,
    142, 143, 162, 163, 172, 180, 183, 184, 200, 201, legalHoldPlaced, legalHoldLifted, 300, 301, 302, 310, 311, 320,
    322, 323, 324, 325, 326, 327,
  ]

  private static let roomCreated: UInt16 = 100
  /// The kinds with the name and topic of a room or a workspace.
  static let withNames: Set<UInt16> = [roomCreated, 101, 103, 300, 301]

  /// For each user, the rooms and workspaces that were deleted with the account, because nobody else was in them. Their
  /// names are erased. The records of who joined and left them are kept, because rows of former members depend on
  /// these.
  private let deletedWith: [UUIDBytes: Set<UUIDBytes>]

  /// - Parameter deletions: where the account of each user was deleted.
  init(_ deletions: [UUIDBytes: LogPosition], in source: some BlockSource) throws(LogError) {
    var deletedWith: [UUIDBytes: Set<UUIDBytes>] = [:]
    for (user, position) in deletions {
      let deleted = try Self.streamsDeleted(with: position, in: source)
      for stream in deleted {
        if try Self.isChannel(stream, ofWorkspaceOutside: deleted, in: source, before: position) { continue }
        deletedWith[user, default: []].insert(stream)
      }
    }
    self.deletedWith = deletedWith
  }

  func erases(_ envelope: RecordEnvelope, of user: UUIDBytes) -> Bool {
    if envelope.streamKind == StreamKind.user.rawValue {
      return envelope.stream == user ? envelope.kind != Self.userErased : envelope.kind == Self.pushTokenMoved
    }
    if Self.withContent.contains(envelope.kind) { return true }
    return Self.withNames.contains(envelope.kind) && deletedWith[user]?.contains(envelope.stream) == true
  }

  /// The creation of a channel names its workspace. If the workspace remains, the rows of its members depend on that,
  /// and the channel's name belongs to the workspace.
  private static func isChannel(
    _ room: UUIDBytes, ofWorkspaceOutside deleted: Set<UUIDBytes>, in source: some BlockSource, before end: LogPosition
  ) throws(LogError) -> Bool {
    var blocks = StreamBlocks(source, stream: room, from: .first, through: end)
    while let block = try blocks.next() {
      guard let creation = block.records.first(where: { $0.envelope.stream == room && $0.envelope.kind == roomCreated })
      else { continue }
      guard let payload = creation.payload.retained, let body = try? Hansard_V1_RoomCreated(serializedBytes: payload),
        let workspace = UUIDBytes(bytes: Array(body.workspaceID))
      else { return false }
      return !deleted.contains(workspace)
    }
    return false
  }

  /// The records of a command follow each other, and the deletion of the account is the last one. They are written as one
  /// block, but sealing divides the segment into other blocks.
  private static func streamsDeleted(
    with position: LogPosition, in source: some BlockSource
  ) throws(LogError) -> Set<UUIDBytes> {
    var streams: Set<UUIDBytes> = []
    var deletion: RecordEnvelope?
    var end = position.next
    while end > .first {
      let block = try source.block(containing: LogPosition(end.value - 1))
      for record in block.records.reversed() where record.position < end {
        let envelope = record.envelope
        guard isOfSameCommand(envelope, deletion ?? envelope) else { return streams }
        deletion = deletion ?? envelope
        if [roomDeleted, workspaceDeleted].contains(envelope.kind) { streams.insert(envelope.stream) }
      }
      end = block.first
    }
    return streams
  }

  private static func isOfSameCommand(_ one: RecordEnvelope, _ other: RecordEnvelope) -> Bool {
    one.actor == other.actor && one.service == other.service && one.command == other.command && one.time == other.time
  }
}

extension ErasurePlan {
  /// - Parameter deletions: where the account of each user was deleted. Nothing later has the user as its actor.
  /// - Throws: the errors of `BlockSource.block(containing:)`.
  package init(erasing deletions: [UserID: LogPosition], in source: some BlockSource) throws(LogError) {
    let users = Dictionary(uniqueKeysWithValues: deletions.map { ($0.key.uuid, $0.value) })
    let rule = try ErasureRule(users, in: source)
    self.init(users: users) { envelope, user in rule.erases(envelope, of: user) }
  }
}
