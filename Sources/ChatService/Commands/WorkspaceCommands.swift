package import ChatDomain
package import ChatPrimitives

extension ChatService {
  package func performWorkspace(
    _ workspace: WorkspaceID, _ workspaceCommand: WorkspaceCommand, by principal: Principal, command: CommandID? = nil,
    if precondition: Precondition? = nil
  ) async throws(ServiceError) -> ChatOutcome {
    try await perform(
      Request(principal, .workspace(workspace, workspaceCommand), command: command, precondition: precondition))
  }

  /// If a service acts in the user's name, the service adds the user. Otherwise the user accepts an invitation.
  package func joinWorkspace(
    _ workspace: WorkspaceID, by principal: Principal, command: CommandID?
  ) async throws(ServiceError)
    -> ChatOutcome
  {
    try await performWorkspace(
      workspace, principal.service == nil ? .invitations(.accept) : .members(.join), by: principal, command: command)
  }
}
