package import ChatDomain
package import ChatPrimitives
package import ChatProjections

/// The users whom a user blocks. Only that user can see them.
extension ChatService {
  /// The newest block first.
  package func blockedUsers(
    of user: UserID, after cursor: LogPosition?, limit: Int
  ) async throws(ServiceError) -> BlockedUserPage {
    try await accounts { try $0.blockedUsers(of: user, after: cursor, limit: limit) }
  }

  /// The other user's profile, and where and when the user blocked them; nil if they are not blocked.
  package func block(
    of other: UserID, by user: UserID
  ) async throws(ServiceError) -> (profile: Profile, since: Stamp?) {
    try await accounts { accounts in
      (try accounts.profiles(of: [other])[other] ?? Profile(nickname: ""), try accounts.block(of: other, by: user))
    }
  }
}
