package import ChatDomain
package import ChatPrimitives

extension ChatService {
  /// Records what became of notifications, in the server's own stream.
  @discardableResult
  package func recordPushOutcomes(_ outcomes: PushOutcomes) async throws(ServiceError) -> ChatOutcome {
    try await perform(Request(pushService, .server(.pushOutcomesRecorded(outcomes))))
  }

  /// Takes a token that its provider calls dead from the device.
  /// - Throws: a rejection when the device does not have this very token any more.
  @discardableResult
  package func invalidatePushToken(
    _ token: PushToken, of device: DeviceID, of user: UserID
  )
    async throws(ServiceError) -> ChatOutcome
  {
    try await perform(Request(pushService, .user(user, .devices(.invalidateToken(device, token)))))
  }

  /// The name under which the log records what push does.
  private var pushService: Principal {
    let bytes = keys.authenticationCode(for: "push-service-id", []).prefix(UUIDBytes.byteCount)
    return Principal(service: ServiceID(UUIDBytes(bytes: bytes) ?? .zero))
  }
}
