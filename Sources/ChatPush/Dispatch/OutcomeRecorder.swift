package import ChatDomain
package import ChatPrimitives
package import ChatService

/// Records outcomes as events. `ChatService` does this in production; tests have their own.
package protocol OutcomeRecorder: Sendable {
  /// Returns when the event is durable.
  func record(_ outcomes: PushOutcomes) async throws(RecordingFailure)
  /// Records that a provider reported the token as invalid. Returns when that is durable.
  func invalidate(
    _ token: PushToken, of device: DeviceID, of user: UserID
  ) async throws(RecordingFailure) -> TokenInvalidation
}

/// What happened to a token that its provider reported as invalid.
package enum TokenInvalidation: Sendable, Hashable {
  /// The token was removed from the device at this position.
  case invalidated(at: LogPosition)
  /// The device already has another token, or was removed.
  case replaced
}

/// Why nothing was recorded.
package enum RecordingFailure: Error, Sendable, Hashable, CustomStringConvertible {
  /// A later attempt may succeed.
  case transient(String)
  /// The log accepts nothing more until the server is restarted.
  case permanent(String)

  /// Only the reason, because operators read it.
  package var description: String {
    switch self {
    case .transient(let reason), .permanent(let reason): reason
    }
  }
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
  ) async throws(RecordingFailure) -> TokenInvalidation {
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
    case .logPoisoned, .shuttingDown: self = .permanent("\(error)")
    case .rejected, .malformed, .invalid, .media, .unreadable, .overloaded, .tooManyStreams, .projectionBehind,
      .cancelled, .failed:
      self = .transient("\(error)")
    }
  }
}
