import ChatDomain
import ChatPrimitives
import ChatProjections
import ChatProtocol
import ChatService
import Hummingbird

import struct ChatProtocol.Session

/// What operators' services do with accounts.
struct AccountAdministrationHandlers: Sendable {
  let chat: ChatService

  func find(_ exchange: Exchange) async throws -> TypedResponse<UserList> {
    guard let externalID = try exchange.query("externalId") else {
      throw Refusal.invalidQuery("externalId is needed.")
    }
    guard let row = try await chat.user(withExternalID: externalID) else {
      return try JSONBody.answer(UserList(users: []))
    }
    return try JSONBody.answer(UserList(users: [try await Account(of: row.id, chat)]))
  }

  func disable(_ exchange: Exchange) async throws -> TypedResponse<Account> {
    let user: UserID = try exchange.id("userId")
    let outcome = try await chat.disable(user, by: exchange.actor, command: exchange.command())
    return try await receipt(outcome, of: user) { account in
      if account.disabledAt == nil { account.disabledAt = outcome.stamp.time }
    }
  }

  func enable(_ exchange: Exchange) async throws -> TypedResponse<Account> {
    let user: UserID = try exchange.id("userId")
    let outcome = try await chat.enable(user, by: exchange.actor, command: exchange.command())
    return try await receipt(outcome, of: user) { $0.disabledAt = nil }
  }

  func sessions(_ exchange: Exchange) async throws -> TypedResponse<SessionList> {
    let user: UserID = try exchange.id("userId")
    _ = try await chat.profile(of: user)
    let rows = try await chat.sessions(of: user)
    return try await JSONBody.page(of: rows.count) { SessionList(sessions: rows.map { Session($0, current: nil) }) }
  }

  func endSessions(_ exchange: Exchange) async throws -> TypedResponse<EndedSessions> {
    let user: UserID = try exchange.id("userId")
    let outcome = try await chat.endSessions(.all, of: user, by: exchange.actor, command: exchange.command())
    let rows = try await chat.sessions(of: user)
    return try JSONBody.receipt(
      outcome.isNew,
      EndedSessions(sessions: rows.map { Session($0, current: nil) }, position: outcome.stamp.position))
  }

  /// The account as it is, in which what was asked for is shown as it was asked for.
  private func receipt(
    _ outcome: ChatOutcome, of user: UserID, _ show: (inout Account) -> Void
  ) async throws -> TypedResponse<Account> {
    var account = try await Account(of: user, chat)
    show(&account)
    account.position = outcome.stamp.position
    return try JSONBody.receipt(outcome.isNew, account)
  }
}
