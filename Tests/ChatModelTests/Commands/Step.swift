import ChatDomain
import ChatPrimitives
import ChatService

/// One command as a client sends it. It can be sent again with the same IDs and the same key.
struct Step: Sendable {
  /// The response to a command.
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

  /// A description for reports of failures.
  let name: String
  /// The objects of the command, which are compared directly after it.
  let user: UserID?
  let room: RoomID?
  let workspace: WorkspaceID?
  /// The rights that a repeat requires.
  let rights: [Right]
  /// Whether sending it again is still the same command in the current state. It is not for a refresh token whose
  /// successor has been used: that counts as theft.
  let isSameCommand: @Sendable (ChatModel) -> Bool
  let perform: @Sendable (ChatService) async throws(ServiceError) -> Receipt

  init(
    _ name: String, user: UserID?, room: RoomID? = nil, workspace: WorkspaceID? = nil,
    rights: [Right] = [.account], isSameCommand: @escaping @Sendable (ChatModel) -> Bool = { _ in true },
    perform: @escaping @Sendable (ChatService) async throws(ServiceError) -> Receipt
  ) {
    self.name = name
    self.user = user
    self.room = room
    self.workspace = workspace
    self.rights = rights
    self.isSameCommand = isSameCommand
    self.perform = perform
  }
}

/// IDs that are easy to read in a failure: the first half identifies the kind of object, the second half is a number.
enum Numbered {
  static func user(_ number: Int) -> UserID { ID(UUIDBytes(high: 0xaaaa_0000_0000_7000, low: UInt64(number))) }
  static func room(_ number: Int) -> RoomID { ID(UUIDBytes(high: 0xbbbb_0000_0000_7000, low: UInt64(number))) }
  static func workspace(_ number: Int) -> WorkspaceID {
    ID(UUIDBytes(high: 0xcccc_0000_0000_7000, low: UInt64(number)))
  }
  static let service = ServiceID(UUIDBytes(high: 0x5555_0000_0000_7000, low: 1))
}

extension ID {
  /// The end of the UUID, which is enough to distinguish the IDs of one run.
  var short: String { String(uuid.low, radix: 16) }
}
