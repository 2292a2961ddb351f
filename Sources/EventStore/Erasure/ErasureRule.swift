package import ChatDomain
package import ChatPrimitives
package import EventLog

/// Which payloads an erasure removes; see decision 0041.
///
/// In the user's own stream, all of them. In those of other users, none. Elsewhere, those of kinds that have content: what the user wrote, or something
/// by which the user can be recognised or reached. Rooms that others use depend on the other kinds, which have IDs,
/// numbers, roles and flags.
package struct ErasureRule: Sendable {
  static let userDeleted: UInt16 = 50
  static let userErased: UInt16 = 51
  static let legalHoldPlaced: UInt16 = 210
  static let legalHoldLifted: UInt16 = 211
  private static let roomDeleted: UInt16 = 104
  private static let workspaceDeleted: UInt16 = 302

  /// The kinds with content in rooms: messages, edits, reactions, scheduled messages, reports and their resolutions.
  static let withContent: Set<UInt16> = [130, 131, 133, 134, 137, 160, 161, 170, 171]

  /// The other kinds outside users' streams. A test requires that every kind is in one of the two lists.
  static let withoutContent: Set<UInt16> = [
    100, 101, 102, 103, 104, 105, 110, 111, 120, 121, 122, 123, 124, 125, 126, 127, 128, 129, 132, 135, 136, 140, 141,
    142, 143, 162, 163, 172, 180, 200, 201, legalHoldPlaced, legalHoldLifted, 300, 301, 302, 310, 311, 320, 322, 323,
    324,
    325, 326, 327,
  ]

  /// The rooms and workspaces that were deleted with each user, because nobody else was in them. Nobody depends on what
  /// the user recorded there.
  private let deletedWith: [UUIDBytes: Set<UUIDBytes>]

  /// - Parameter deletions: where the account of each user was deleted.
  init(_ deletions: [UUIDBytes: LogPosition], in source: some BlockSource) throws(LogError) {
    var deletedWith: [UUIDBytes: Set<UUIDBytes>] = [:]
    for (user, position) in deletions {
      deletedWith[user] = Self.streamsDeleted(with: position, in: try source.block(containing: position).records)
    }
    self.deletedWith = deletedWith
  }

  func erases(_ envelope: RecordEnvelope, of user: UUIDBytes) -> Bool {
    if envelope.streamKind == StreamKind.user.rawValue {
      return envelope.stream == user && envelope.kind != Self.userErased
    }
    return Self.withContent.contains(envelope.kind) || deletedWith[user]?.contains(envelope.stream) == true
  }

  /// The records of a command are in one block, and the deletion of the account is its last one.
  private static func streamsDeleted(with position: LogPosition, in block: [LogRecord]) -> Set<UUIDBytes> {
    guard let deletion = block.first(where: { $0.position == position })?.envelope else { return [] }
    let streams = block.lazy.filter { record in
      record.position < position && [roomDeleted, workspaceDeleted].contains(record.envelope.kind)
        && record.envelope.actor == deletion.actor && record.envelope.service == deletion.service
        && record.envelope.command == deletion.command && record.envelope.time == deletion.time
    }.map(\.envelope.stream)
    return Set(streams)
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
