import ChatDomain
import ChatPrimitives
import ChatProtocol
import ChatService
import DequeModule
import Hummingbird
import Synchronization

/// Tickets with which a browser opens a stream, because it cannot send header fields with an EventSource or a WebSocket.
/// A ticket stands for the header fields of the request that it was issued for. It is valid for one request and a short
/// time, so a ticket in a log or in the history of a browser is of no use.
final class StreamTickets: Sendable {
  private struct Ticket {
    var user: UserID
    var credentials: Credentials
    var end: ContinuousClock.Instant
  }

  private struct State {
    var tickets: [String: Ticket] = [:]
    /// The tickets of each user, the oldest first.
    var ofUser: [UserID: [String]] = [:]
    /// The texts of the tickets in the order in which they were issued, and so expire. Texts of used tickets stay for a while.
    var order: Deque<String> = []

    mutating func add(_ ticket: Ticket, _ text: String) {
      tickets[text] = ticket
      ofUser[ticket.user, default: []].append(text)
      // More than half of the texts are of used tickets.
      if order.count > 2 * tickets.count { order.removeAll { tickets[$0] == nil } }
      order.append(text)
    }

    mutating func remove(_ text: String) -> Ticket? {
      guard let ticket = tickets.removeValue(forKey: text) else { return nil }
      ofUser[ticket.user]?.removeAll { $0 == text }
      if ofUser[ticket.user]?.isEmpty == true { ofUser[ticket.user] = nil }
      return ticket
    }

    mutating func removeExpired(at now: ContinuousClock.Instant) {
      while let text = order.first {
        if let ticket = tickets[text], ticket.end > now { return }
        order.removeFirst()
        _ = remove(text)
      }
    }
  }

  private static let lifetime = Duration.milliseconds(Limits.streamTicketMilliseconds)
  private static let byteCount = 16
  private let state = Mutex(State())

  /// How many tickets are remembered, with those that were used and not forgotten yet.
  var count: Int { state.withLock { $0.order.count } }

  /// Issues a ticket. If the user has too many, the oldest becomes invalid.
  /// - Throws: `overloaded` if the users have too many tickets together.
  func issue(
    _ credentials: Credentials, of user: UserID, at now: ContinuousClock.Instant = .now
  ) throws(ServiceError) -> String {
    let text = Base64URL.encode(ChatService.randomBytes(Self.byteCount))
    let isIssued = state.withLock { state in
      let own = state.ofUser[user] ?? []
      if own.count >= Limits.streamTicketsOfUser, let oldest = own.first { _ = state.remove(oldest) }
      state.removeExpired(at: now)
      guard state.tickets.count < Limits.streamTickets else { return false }
      state.add(Ticket(user: user, credentials: credentials, end: now + Self.lifetime), text)
      return true
    }
    guard isIssued else { throw .overloaded }
    return text
  }

  /// - Throws: `ticketInvalid` if it was used before, has expired, or was never issued.
  func use(_ text: String, at now: ContinuousClock.Instant = .now) throws(Refusal) -> Credentials {
    guard let ticket = state.withLock({ $0.remove(text) }), now < ticket.end else { throw .ticketInvalid }
    return ticket.credentials
  }

  /// The credentials in the header fields of a request, or else those for which its ticket stands.
  func credentials(of request: Request, for endpoint: AnyEndpoint) throws -> Credentials {
    let own = Credentials(of: request)
    guard own.authorization == nil, !endpoint.ignoresTokens, endpoint.query.contains("ticket") else { return own }
    let tickets = request.uri.queryParameters.getAll("ticket")
    guard let ticket = tickets.first, tickets.count == 1 else { return own }
    return try use(ticket)
  }
}
