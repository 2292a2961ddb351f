package import ChatPrimitives

/// How a user joins a room.
package enum JoinMethod: Sendable, Hashable {
  case invite(InviteID)
  /// A service adds the user, or the user joins a public channel.
  case service
  /// Another member adds the user.
  case member
}

/// What a member may do. The raw values are in the log, in ascending order of rights.
package enum Role: UInt8, NamedValue, Comparable {
  case member = 1
  case administrator = 2
  case owner = 3

  package var name: String {
    switch self {
    case .member: "member"
    case .administrator: "administrator"
    case .owner: "owner"
    }
  }

  package static func < (left: Role, right: Role) -> Bool { left.rawValue < right.rawValue }
}
