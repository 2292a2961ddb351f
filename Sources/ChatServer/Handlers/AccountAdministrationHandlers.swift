import ChatDomain
import ChatPrimitives
import ChatProjections
import ChatProtocol
import ChatService
import Hummingbird

import struct ChatProtocol.Session

/// What operators' services can do with accounts.
struct AccountAdministrationHandlers: Sendable {
  let chat: ChatService

  func find(_ context: HansardRequestContext) async throws -> TypedResponse<UserList> {
    guard let externalID = try context.query("externalId") else {
      throw Refusal.invalidQuery("externalId is needed.")
    }
    guard let row = try await chat.user(withExternalID: externalID) else {
      return try JSONBody.response(UserList(users: []))
    }
    return try JSONBody.response(UserList(users: [try await Account(of: row.id, chat)]))
  }

  func disable(_ context: HansardRequestContext) async throws -> TypedResponse<Account> {
    let user: UserID = try context.id("userId")
    let outcome = try await chat.disable(user, by: context.actor, command: context.command())
    return try await receipt(outcome, of: user) { account in
      if account.disabledAt == nil { account.disabledAt = outcome.stamp.time }
    }
  }

  func enable(_ context: HansardRequestContext) async throws -> TypedResponse<Account> {
    let user: UserID = try context.id("userId")
    let outcome = try await chat.enable(user, by: context.actor, command: context.command())
    return try await receipt(outcome, of: user) { $0.disabledAt = nil }
  }

  func sessions(_ context: HansardRequestContext) async throws -> TypedResponse<SessionList> {
    let user: UserID = try context.id("userId")
    _ = try await chat.profile(of: user)
    let rows = try await chat.sessions(of: user)
    return try await JSONBody.page(of: rows.count) { SessionList(sessions: rows.map { Session($0, current: nil) }) }
  }

  func endSessions(_ context: HansardRequestContext) async throws -> TypedResponse<EndedSessions> {
    let user: UserID = try context.id("userId")
    let outcome = try await chat.endSessions(.all, of: user, by: context.actor, command: context.command())
    let rows = try await chat.sessions(of: user)
    return try JSONBody.receipt(
      outcome.result,
      EndedSessions(sessions: rows.map { Session($0, current: nil) }, position: outcome.stamp.position))
  }

  /// The current account, in which the requested change is always shown as requested.
  private func receipt(
    _ outcome: ChatOutcome, of user: UserID, _ show: (inout Account) -> Void
  ) async throws -> TypedResponse<Account> {
    var account = try await Account(of: user, chat)
    show(&account)
    account.position = outcome.stamp.position
    return try JSONBody.receipt(outcome.result, account)
  }
}
