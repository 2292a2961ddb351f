import ChatDomain
import ChatPrimitives
import ChatService
import Testing

@testable import ChatServer

@Suite("Tickets for streams")
struct StreamTicketsSpecs {
  private let tickets = StreamTickets()
  private let now = ContinuousClock.now
  private let credentials = Credentials(authorization: "Bearer of-anna", actAs: "anna")
  private let anna = Self.user(0)
  private static let lifetime = Duration.milliseconds(Limits.streamTicketMilliseconds)

  private static func user(_ number: Int) -> UserID { UserID(UUIDBytes(high: 1, low: UInt64(number))) }

  private func issue(to user: UserID? = nil, after time: Duration = .zero) throws -> String {
    try tickets.issue(credentials, of: user ?? anna, at: now + time)
  }

  @Test("stand for the header fields of their request, once")
  func once() throws {
    let ticket = try issue()
    let other = try tickets.issue(Credentials(authorization: "Bearer of-ben"), of: Self.user(1), at: now)
    #expect(try tickets.use(ticket, at: now) == credentials)
    #expect(throws: Refusal.ticketInvalid) { try tickets.use(ticket, at: now) }
    #expect(try tickets.use(other, at: now).authorization == "Bearer of-ben")
  }

  @Test("cannot be guessed", arguments: ["", "x", String(repeating: "A", count: 22)])
  func guessed(text: String) throws {
    let issued = try Set((0..<Limits.streamTicketsOfUser).map { _ in try issue() })
    #expect(issued.count == Limits.streamTicketsOfUser)
    #expect(throws: Refusal.ticketInvalid) { try tickets.use(text, at: now) }
  }

  @Test("are valid for a minute")
  func expiry() throws {
    let (early, late) = (try issue(), try issue())
    #expect(try tickets.use(early, at: now + Self.lifetime - .nanoseconds(1)) == credentials)
    #expect(throws: Refusal.ticketInvalid) { try tickets.use(late, at: now + Self.lifetime) }
  }

  @Test("of a user are limited: each further one replaces the oldest")
  func ofUser() throws {
    let other = try issue(to: Self.user(1))
    let own = try (0...Limits.streamTicketsOfUser).map { _ in try issue() }
    #expect(throws: Refusal.ticketInvalid) { try tickets.use(own[0], at: now) }
    for ticket in own[1...] + [other] { #expect(try tickets.use(ticket, at: now) == credentials) }
    // Used tickets do not count.
    let new = try (0..<Limits.streamTicketsOfUser).map { _ in try issue() }
    for ticket in new { #expect(try tickets.use(ticket, at: now) == credentials) }
  }

  @Test("are forgotten when they expire, and when they were used")
  func forgotten() throws {
    for number in 1...8 { _ = try issue(to: Self.user(number)) }
    _ = try issue(after: Self.lifetime)
    #expect(tickets.count == 1)
    for _ in 0..<100 {
      _ = try tickets.use(issue(after: Self.lifetime), at: now + Self.lifetime)
      // Two are valid at once, and up to three that were used are remembered.
      #expect(tickets.count <= 5)
    }
  }

  @Test("of all users are limited until some are used or expire")
  func ofAll() throws {
    let second = Duration.seconds(1)
    let first = try issue(to: Self.user(1))
    for number in 2...Limits.streamTickets { _ = try issue(to: Self.user(number), after: second) }
    #expect(throws: ServiceError.self) { try issue(after: second) }
    #expect(try tickets.use(first, at: now + second) == credentials)
    let last = try issue(after: second)
    #expect(throws: ServiceError.self) { try issue(after: Self.lifetime) }
    #expect(try tickets.use(last, at: now + Self.lifetime) == credentials)
    _ = try issue(after: Self.lifetime)
    _ = try issue(after: Self.lifetime + second)
  }
}
