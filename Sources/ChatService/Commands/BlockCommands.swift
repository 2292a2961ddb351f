package import ChatDomain
package import ChatPrimitives

extension ChatService {
  package func block(
    _ user: UserID, by principal: Principal, command: CommandID?
  ) async throws(ServiceError) -> ChatOutcome {
    try await performUser(.blocks(.block(user)), by: principal, command: command)
  }

  package func unblock(
    _ user: UserID, by principal: Principal, command: CommandID?
  ) async throws(ServiceError) -> ChatOutcome {
    try await performUser(.blocks(.unblock(user)), by: principal, command: command)
  }
}
