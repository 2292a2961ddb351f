package import ChatPrimitives
package import ChatProtocol
import ChatService
import Hummingbird

/// Explains the event at a position, for one user or for all. `ChatServer` cannot see `ChatPush`, so the executable
/// connects them. It returns only when its work has ended, also if it is cancelled.
/// - Throws: `PushExplanationFailure`; `CancellationError`; errors of the log.
package typealias EventExplanation = @Sendable (LogPosition, UserID?) async throws -> PushDecisions

/// Why an event is not explained.
package enum PushExplanationFailure: Error, Hashable {
  case unknownPosition(head: LogPosition)
  case notifiesNobody
  case tookTooLong
}

/// What operators can ask about push. Works whether push is on or off.
struct PushHandlers: Sendable {
  /// All callers share one limit.
  private enum Everyone: Hashable {
    case everyone
  }

  private let chat: ChatService
  private let explanation: EventExplanation
  private let running = KeyedLimit<Everyone>(Limits.pushExplanations)

  init(chat: ChatService, explanation: @escaping EventExplanation) {
    self.chat = chat
    self.explanation = explanation
  }

  func explain(_ context: HansardRequestContext) async throws -> TypedResponse<PushDecisions> {
    guard let position = try context.number("position", atMost: .max) else {
      throw Refusal.invalidQuery("position is needed.")
    }
    let user = try Self.user(context)
    if let user { _ = try await chat.profile(of: user) }
    let decisions = try await explain(LogPosition(UInt64(position)), user)
    return try await JSONBody.page(of: decisions.devices.count) { decisions }
  }

  /// - Throws: `overloaded` if another explanation is being made: it reads the whole log.
  func explain(_ position: LogPosition, _ user: UserID?) async throws -> PushDecisions {
    guard let reservation = running.reserve(for: .everyone) else { throw ServiceError.overloaded }
    defer { reservation.release() }
    do {
      return try await explanation(position, user)
    } catch let failure as PushExplanationFailure {
      throw Refusal.pushNotExplained(failure)
    }
  }

  private static func user(_ context: HansardRequestContext) throws -> UserID? {
    guard let text = try context.query("userId") else { return nil }
    guard let user = UserID(text) else { throw Refusal.invalidQuery("userId must be a UUID.") }
    return user
  }
}
