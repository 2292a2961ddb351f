import ChatService

/// The user whom the last message of a connection named by its token. Most connections have one user, so their requests need
/// neither parse the token nor search the table of verified tokens.
struct RememberedUser: Sendable {
  /// The field `Authorization`.
  let authorization: String
  let token: VerifiedToken
}
