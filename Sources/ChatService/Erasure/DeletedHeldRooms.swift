import ChatDomain
import ChatPrimitives
import EventStore
import NIOPosix
import Synchronization

/// Finds who was in rooms that are deleted and under a legal hold. It reads the log, because the read models forget the
/// members of a deleted room. It remembers the result, because nothing more happens in a deleted room.
final class DeletedHeldRooms: Sendable {
  /// The maximum number of users that are remembered for all rooms together.
  private static let rememberedUsers = 200_000

  private let remembered = Mutex<[RoomID: Set<UserID>]>([:])

  /// - Parameter rooms: deleted rooms.
  func contains(_ user: UserID, in rooms: [RoomID], of chat: ChatService) async throws(ServiceError) -> Bool {
    for room in rooms {
      if try await users(of: room, chat).contains(user) { return true }
    }
    return false
  }

  private func users(of room: RoomID, _ chat: ChatService) async throws(ServiceError) -> Set<UserID> {
    if let users = remembered.withLock({ $0[room] }) { return users }
    let users = try await chat.failing { [log = chat.store.log] in
      // Blocks on the disk.
      try await NIOThreadPool.singleton.runIfActive { try RoomParticipants.users(of: room, in: log) }
    }
    remembered.withLock { remembered in
      let count = remembered.values.reduce(users.count) { $0 + $1.count }
      if count > Self.rememberedUsers { remembered.removeAll() }
      remembered[room] = users
    }
    return users
  }
}
