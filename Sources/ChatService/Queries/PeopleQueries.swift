package import ChatPrimitives
package import ChatProjections
import EventStore

/// Finds users by email address, external ID or nickname. See decision 0046.
///
/// Accounts and memberships are in two read models. Both have applied everything that was durable when the query
/// arrived.
extension ChatService {
  /// - Parameters:
  ///   - email: in any case and Unicode form.
  ///   - caller: nil for a service that acts for itself.
  package func findUser(email: String, by caller: UserID?) async throws(ServiceError) -> FoundUsers {
    let head = store.head
    let row = try await accounts(upTo: head) { try $0.user(email: email, foundBy: caller) }
    return try await admitted(row, rules.finding.byEmail, caller, at: head)
  }

  /// - Parameter caller: nil for a service that acts for itself.
  package func findUser(externalID: String, by caller: UserID?) async throws(ServiceError) -> FoundUsers {
    let head = store.head
    let row = try await accounts(upTo: head) { try $0.user(externalID: externalID, foundBy: caller) }
    return try await admitted(row, rules.finding.byExternalID, caller, at: head)
  }

  private func admitted(
    _ row: UserRow?, _ scope: FindingRules.Scope, _ caller: UserID?, at head: LogPosition
  ) async throws(ServiceError) -> FoundUsers {
    if let caller {
      switch scope {
      case .nobody: return FoundUsers(users: [], hasMore: false)
      case .everyone: break
      case .shared:
        // Runs for an unknown user too, so that the response time does not reveal whether the user exists.
        let other = row?.id ?? UserID(UUIDBytes(high: .random(in: 0 ... .max), low: .random(in: 0 ... .max)))
        let sharing = try await rooms(upTo: head) {
          try $0.sharing(with: caller, among: [other], limit: 1, examining: 1).found
        }
        guard !sharing.isEmpty else { return FoundUsers(users: [], hasMore: false) }
      }
    }
    guard let row else { return FoundUsers(users: [], hasMore: false) }
    return FoundUsers(users: [row], hasMore: false)
  }

  /// Users whose nicknames begin with `prefix`, ordered by nickname.
  ///
  /// If the users who share a room or a workspace with the caller are few, all of them are looked at. Otherwise the
  /// nicknames with this beginning are, in order, up to `Limits.nicknamesExamined`.
  /// - Parameter caller: nil for a service that acts for itself.
  package func findUsers(
    nickname prefix: NicknamePrefix, by caller: UserID?, limit: Int
  ) async throws(ServiceError) -> FoundUsers {
    let head = store.head
    guard let caller, rules.finding.byNickname != .everyone else {
      return try await accounts(upTo: head) {
        try $0.users(nickname: prefix, foundBy: caller, limit: limit, examining: Limits.nicknamesExamined)
      }
    }
    if rules.finding.byNickname == .nobody { return FoundUsers(users: [], hasMore: false) }
    let known = try await rooms(upTo: head) {
      try $0.acquaintances(of: caller, limit: Limits.acquaintancesExamined)
    }
    if let known {
      return try await accounts(upTo: head) {
        try $0.users(nickname: prefix, among: known, foundBy: caller, limit: limit)
      }
    }
    let candidates = try await accounts(upTo: head) {
      try $0.users(
        nickname: prefix, foundBy: caller, limit: Limits.nicknamesExamined, examining: Limits.nicknamesExamined)
    }
    let sharing = try await rooms(upTo: head) {
      try $0.sharing(
        with: caller, among: candidates.users.map(\.id), limit: limit, examining: Limits.membershipsCompared)
    }
    let found = Set(sharing.found)
    return FoundUsers(
      users: candidates.users.filter { found.contains($0.id) }, hasMore: candidates.hasMore || !sharing.isComplete)
  }
}
