package import ChatDomain
package import ChatPrimitives

/// Where the ID of a new session comes from.
package enum SessionNaming: Sendable, Hashable {
  /// From the client, or generated for this request.
  case given(SessionID)
  /// From the request's `Idempotency-Key`. The ID also depends on the user, who is known only after the login.
  case keyed(CommandID)
}

extension ChatService {
  func session(_ naming: SessionNaming, of user: UserID) -> SessionID {
    switch naming {
    case .given(let session): session
    case .keyed(let command): creationID(of: .session, under: command, by: Principal(user: user))
    }
  }
}
