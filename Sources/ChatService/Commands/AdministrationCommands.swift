package import ChatDomain
package import ChatPrimitives

extension ChatService {
  /// Ends every session of the user, who cannot log in again until the account is enabled.
  package func disable(
    _ user: UserID, by service: Principal, command: CommandID?
  ) async throws(ServiceError) -> ChatOutcome {
    try await perform(Request(service, .user(user, .account(.disable)), command: command))
  }

  package func enable(
    _ user: UserID, by service: Principal, command: CommandID?
  ) async throws(ServiceError) -> ChatOutcome {
    try await perform(Request(service, .user(user, .account(.enable)), command: command))
  }

  /// Signs access tokens with a new key from now on. Earlier tokens stay valid until they expire.
  package func rotateSigningKey(by service: Principal, command: CommandID?) async throws(ServiceError) -> ChatOutcome {
    try await perform(Request(service, .rotateSigningKey, command: command))
  }
}
