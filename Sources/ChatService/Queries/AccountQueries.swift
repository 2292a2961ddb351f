package import ChatDomain
package import ChatPrimitives
package import ChatProjections
import EventStore

/// Queries see everything that was durable when they arrived.
extension ChatService {
  /// Whether the session has ended while its access tokens may still be valid.
  package func isEnded(_ session: SessionID, of user: UserID) -> Bool {
    gate.isEnded(session, of: user)
  }

  /// Whether the account is disabled, according to durable events.
  package func isDisabled(_ user: UserID) -> Bool {
    gate.isDisabled(user)
  }

  /// Whether the account was deleted, according to durable events.
  package func isDeleted(_ user: UserID) -> Bool {
    gate.isDeleted(user)
  }

  /// Refuses a caller whose session is not open, before a password is checked: an access token of an ended session must
  /// not be usable to guess the password. The writer checks it again.
  package func requireOpenSession(_ principal: Principal) async throws(ServiceError) {
    guard principal.service == nil, let user = principal.user, let session = principal.session else { return }
    let row = try await accounts { try $0.session(session, of: user) }
    guard let row, row.end == nil else { throw .rejected(.sessionEnded) }
  }

  package func isRegistered(_ user: UserID) async throws(ServiceError) -> Bool {
    try await accounts { try $0.user(user) != nil }
  }

  package func profile(of user: UserID) async throws(ServiceError) -> UserRow {
    guard let row = try await accounts({ try $0.user(user) }) else { throw .rejected(.userNotFound) }
    return row
  }

  /// The profiles in the order of the IDs, each once. Leaves out IDs that belong to no user.
  package func profiles(of users: [UserID]) async throws(ServiceError) -> [UserRow] {
    try await accounts { accounts in
      var found: Set<UserID> = []
      return try users.filter { found.insert($0).inserted }.compactMap { try accounts.user($0) }
    }
  }

  package func user(withExternalID externalID: String) async throws(ServiceError) -> UserRow? {
    try await accounts { try $0.user(externalID: externalID) }
  }

  package func account(of user: UserID) async throws(ServiceError) -> (UserRow, [IdentityRow]) {
    let found = try await accounts { accounts in
      try accounts.user(user).flatMap { $0.deleted == nil ? $0 : nil }.map { ($0, try accounts.identities(of: user)) }
    }
    guard let found else { throw .rejected(.userNotFound) }
    return found
  }

  /// Open sessions, latest first.
  package func sessions(of user: UserID) async throws(ServiceError) -> [SessionRow] {
    try await accounts { try $0.openSessions(of: user) }
  }

  package func session(_ session: SessionID, of user: UserID) async throws(ServiceError) -> SessionRow {
    guard let row = try await accounts({ try $0.session(session, of: user) }) else {
      throw .rejected(.sessionNotFound)
    }
    return row
  }

  package func devices(of user: UserID) async throws(ServiceError) -> [DeviceRow] {
    try await accounts { try $0.devices(of: user) }
  }

  package func device(_ device: DeviceID, of user: UserID) async throws(ServiceError) -> DeviceRow {
    guard let row = try await accounts({ try $0.device(device, of: user) }) else { throw .rejected(.deviceNotFound) }
    return row
  }

  /// - Parameter position: what the query reads has everything up to here. Nil for the head.
  func accounts<T: Sendable>(
    upTo position: LogPosition? = nil, _ body: @escaping @Sendable (AccountsQueries) throws -> T
  ) async throws(ServiceError) -> T {
    let position = position ?? store.head
    return try await failing {
      try await self.readModels.accounts.wait(for: position)
      return try await self.readModels.accounts.read(body)
    }
  }
}
