package import ChatDomain
package import ChatPrimitives

extension ChatService {
  package func setPreferences(
    _ edit: PreferencesEdit, by principal: Principal, command: CommandID?
  ) async throws(ServiceError) -> ChatOutcome {
    try await performUser(.account(.setPreferences(edit)), by: principal, command: command)
  }
}
