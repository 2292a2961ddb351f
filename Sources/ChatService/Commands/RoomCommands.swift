package import ChatDomain
package import ChatPrimitives

extension ChatService {
  package func performRoom(
    _ room: RoomID, _ roomCommand: RoomCommand, by principal: Principal, command: CommandID? = nil,
    if precondition: Precondition? = nil
  ) async throws(ServiceError) -> ChatOutcome {
    try await perform(Request(principal, .room(room, roomCommand), command: command, precondition: precondition))
  }

  /// The one direct room of these users, created if it does not exist. Its ID is derived from theirs with the server's
  /// key, so all of them get the same room, and nobody else can use its ID.
  /// - Parameter others: in any order; the acting user may be among them.
  package func directRoom(
    with others: [UserID], in workspace: WorkspaceID? = nil, by principal: Principal
  ) async throws(ServiceError) -> (room: RoomID, outcome: ChatOutcome) {
    guard let user = principal.user else { throw .rejected(.forbidden) }
    let participants = Set(others + [user]).sorted()
    let members = participants.flatMap(\.uuid.bytes)
    let code =
      if let workspace {
        keys.authenticationCode(for: "direct-room-id-in-workspace", workspace.uuid.bytes + members)
      } else {
        keys.authenticationCode(for: "direct-room-id", members)
      }
    guard let id = UUIDBytes(bytes: Array(code.prefix(UUIDBytes.byteCount))) else {
      throw .failed("an authentication code shorter than an ID")
    }
    let creation = RoomCreation(
      kind: .direct, name: "", creator: user, workspace: workspace, participants: participants)
    return (RoomID(id), try await performRoom(RoomID(id), .lifecycle(.create(creation)), by: principal))
  }
}
