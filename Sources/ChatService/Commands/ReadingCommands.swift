package import ChatDomain
package import ChatPrimitives

extension ChatService {
  package func setPreferences(
    _ preferences: UserPreferences, by principal: Principal, command: CommandID?
  ) async throws(ServiceError) -> ChatOutcome {
    try await performUser(.account(.setPreferences(preferences)), by: principal, command: command)
  }
}
