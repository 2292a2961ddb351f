/// From whom a user accepts something. The raw values are in the log; the names are in the API.
package enum ContactRule: UInt8, NamedValue {
  case everyone = 1
  /// Users who share a room or a workspace with the user.
  case known = 2
  case nobody = 3

  package var name: String {
    switch self {
    case .everyone: "everyone"
    case .known: "known"
    case .nobody: "nobody"
    }
  }
}

/// Who may bring a user into rooms (decision 0045).
package struct ContactRules: Sendable, Hashable {
  /// Who may create a direct room with the user. A room that exists is not affected.
  package var directRooms: ContactRule
  /// Who may add the user to a group.
  package var groupAdditions: ContactRule

  package init(directRooms: ContactRule = .everyone, groupAdditions: ContactRule = .everyone) {
    self.directRooms = directRooms
    self.groupAdditions = groupAdditions
  }
}
