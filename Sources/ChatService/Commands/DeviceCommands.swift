package import ChatDomain
package import ChatPrimitives

extension ChatService {
  package func setDevice(
    _ device: DeviceID, _ description: DeviceDescription, by principal: Principal, command: CommandID?,
    if precondition: Precondition? = nil
  ) async throws(ServiceError) -> ChatOutcome {
    try await performUser(.devices(.set(device, description)), by: principal, command: command, if: precondition)
  }

  package func removeDevice(
    _ device: DeviceID, by principal: Principal, command: CommandID?, if precondition: Precondition? = nil
  ) async throws(ServiceError) -> ChatOutcome {
    try await performUser(.devices(.remove(device)), by: principal, command: command, if: precondition)
  }
}
