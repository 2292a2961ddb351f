package import ChatDomain
package import ChatPrimitives

extension ChatService {
  package func setDevice(
    _ device: DeviceID, _ description: DeviceDescription, by principal: Principal, command: CommandID?
  ) async throws(ServiceError) -> ChatOutcome {
    try await performUser(.setDevice(device, description), by: principal, command: command)
  }

  package func removeDevice(
    _ device: DeviceID, by principal: Principal, command: CommandID?
  )
    async throws(ServiceError) -> ChatOutcome
  {
    try await performUser(.removeDevice(device), by: principal, command: command)
  }
}
