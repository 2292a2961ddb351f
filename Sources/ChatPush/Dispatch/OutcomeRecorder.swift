package import ChatDomain
package import ChatPrimitives
package import ChatService

/// Where outcomes become events. The service; a test's own.
package protocol OutcomeRecorder: Sendable {
  /// Returns when the event is durable.
  func record(_ outcomes: PushOutcomes) async throws(RecordingFailure)
  /// Records that a provider called the token dead; returns when that is durable.
  func invalidate(
    _ token: PushToken, of device: DeviceID, of user: UserID
  ) async throws(RecordingFailure) -> TokenFate
}

/// What a token that its provider calls dead turned out to be.
package enum TokenFate: Sendable, Hashable {
  /// As of this position it is not the device's any more.
  case invalidated(at: LogPosition)
  /// The device has another token by now, or is gone.
  case replaced
}

/// Why nothing was recorded.
package enum RecordingFailure: Error, Sendable, Hashable {
  /// Worth another attempt later.
  case passing(String)
  /// The log takes nothing more until the server is started again.
  case lasting(String)
}

extension ChatService: OutcomeRecorder {
  package func record(_ outcomes: PushOutcomes) async throws(RecordingFailure) {
    do throws(ServiceError) {
      _ = try await recordPushOutcomes(outcomes)
    } catch {
      throw RecordingFailure(error)
    }
  }

  package func invalidate(
    _ token: PushToken, of device: DeviceID, of user: UserID
  ) async throws(RecordingFailure) -> TokenFate {
    do throws(ServiceError) {
      return .invalidated(at: try await invalidatePushToken(token, of: device, of: user).stamp.position)
    } catch {
      if case .rejected = error { return .replaced }
      throw RecordingFailure(error)
    }
  }
}

extension RecordingFailure {
  init(_ error: ServiceError) {
    switch error {
    case .logPoisoned, .shuttingDown: self = .lasting("\(error)")
    case .rejected, .invalid, .media, .unreadable, .overloaded, .projectionBehind, .cancelled, .failed:
      self = .passing("\(error)")
    }
  }
}
