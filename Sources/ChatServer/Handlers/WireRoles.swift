import ChatDomain

/// Finds roles by the names that clients use.
enum WireRoles {
  static func room(_ name: String) throws -> Role {
    guard let role = Role(name: name) else { throw refusal(Role.allCases.map(\.name)) }
    return role
  }

  static func workspace(_ name: String) throws -> WorkspaceRole {
    guard let role = WorkspaceRole(name: name) else { throw refusal(WorkspaceRole.allCases.map(\.name)) }
    return role
  }

  private static func refusal(_ names: [String]) -> Refusal {
    .invalidField("role must be one of \(names.joined(separator: ", ")).")
  }
}
