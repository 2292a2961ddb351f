import ChatDomain
import ChatPrimitives
import ChatService

/// One command as a client sends it, ready to be sent again with the same IDs and the same key.
struct Step: Sendable {
  /// What was answered.
  struct Receipt: Sendable, Equatable {
    let stamp: Stamp
    let isNew: Bool

    init(stamp: Stamp, isNew: Bool) {
      self.stamp = stamp
      self.isNew = isNew
    }

    init(_ outcome: ChatOutcome) {
      stamp = outcome.stamp
      isNew = outcome.isNew
    }

    init(_ grant: SessionGrant) {
      stamp = grant.stamp
      isNew = grant.isNew
    }
  }

  /// For whoever reads a failure.
  let name: String
  /// Whom and what it is about, to be compared right after it.
  let user: UserID?
  let room: RoomID?
  let workspace: WorkspaceID?
  /// What a repeat rests on.
  let rights: [Right]
  /// Whether to send it again is still the same command, as the world is now: the use of a refresh token whose
  /// successor was used is another's doing.
  let isSameWish: @Sendable (ChatModel) -> Bool
  let perform: @Sendable (ChatService) async throws(ServiceError) -> Receipt

  init(
    _ name: String, user: UserID?, room: RoomID? = nil, workspace: WorkspaceID? = nil,
    rights: [Right] = [.account], isSameWish: @escaping @Sendable (ChatModel) -> Bool = { _ in true },
    perform: @escaping @Sendable (ChatService) async throws(ServiceError) -> Receipt
  ) {
    self.name = name
    self.user = user
    self.room = room
    self.workspace = workspace
    self.rights = rights
    self.isSameWish = isSameWish
    self.perform = perform
  }
}

/// IDs that read well in a failure: the first half says what kind of thing it is, the second is a number.
enum Numbered {
  static func user(_ number: Int) -> UserID { ID(UUIDBytes(high: 0xaaaa_0000_0000_7000, low: UInt64(number))) }
  static func room(_ number: Int) -> RoomID { ID(UUIDBytes(high: 0xbbbb_0000_0000_7000, low: UInt64(number))) }
  static func workspace(_ number: Int) -> WorkspaceID {
    ID(UUIDBytes(high: 0xcccc_0000_0000_7000, low: UInt64(number)))
  }
  static let service = ServiceID(UUIDBytes(high: 0x5555_0000_0000_7000, low: 1))
}

extension ID {
  /// The end of the UUID: enough to tell one from the other in one run.
  var short: String { String(uuid.low, radix: 16) }
}
