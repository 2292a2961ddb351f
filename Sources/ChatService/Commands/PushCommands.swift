package import ChatDomain
package import ChatPrimitives

extension ChatService {
  /// Records the outcomes of push notifications in the server's own stream.
  @discardableResult
  package func recordPushOutcomes(_ outcomes: PushOutcomes) async throws(ServiceError) -> ChatOutcome {
    try await perform(Request(pushService, .server(.pushOutcomesRecorded(outcomes))))
  }

  /// Removes a token from the device because its provider reported it as dead.
  /// - Throws: a rejection if the device no longer has this token.
  @discardableResult
  package func invalidatePushToken(
    _ token: PushToken, of device: DeviceID, of user: UserID
  )
    async throws(ServiceError) -> ChatOutcome
  {
    try await perform(Request(pushService, .user(user, .devices(.invalidateToken(device, token)))))
  }

  /// The service ID that the log has for what push does.
  private var pushService: Principal {
    let bytes = keys.authenticationCode(for: "push-service-id", []).prefix(UUIDBytes.byteCount)
    return Principal(service: ServiceID(UUIDBytes(bytes: bytes) ?? .zero))
  }
}
