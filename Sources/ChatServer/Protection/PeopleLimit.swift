import ChatPrimitives
import ChatService
import NIOCore

/// Limits how often a user may search for other users. Without it, a program could try many email addresses and find out
/// which of them belong to users.
struct PeopleLimit: Sendable {
  private let users: RateLimit<UserID>?
  private let countsServices: Bool

  init(_ settings: RateLimitSettings) {
    users = settings.isOn ? RateLimit("people", settings.people) : nil
    countsServices = settings.countsServices
  }

  /// - Throws: `Refusal.rateLimited`.
  func admit(_ principal: Principal?) throws(Refusal) {
    guard let users, let principal, let user = principal.user, principal.service == nil || countsServices else {
      return
    }
    _ = try users.take(user, at: NIODeadline.now().uptimeNanosecondsSinceStart)
  }
}
