import ChatDomain
import ChatPrimitives
import ChatProjections
import ChatProtocol
import ChatService
import Hummingbird

struct AccountHandlers: Sendable {
  let chat: ChatService

  func create(_ exchange: Exchange) async throws -> Response {
    let body = try await exchange.body(CreateAccountRequest.self)
    let id = body.id ?? FreshID.make()
    let service = exchange.principal?.service
    let (outcome, email) = try await chat.register(
      ChatService.NewAccount(
        id: id, nickname: body.nickname, email: body.email, password: body.password, externalID: body.externalId),
      by: Principal(service: service))
    return try JSONBody.receipt(
      outcome.isNew,
      Account(
        id: id, nickname: body.nickname, email: email, externalId: body.externalId, position: outcome.stamp.position))
  }

  func me(_ exchange: Exchange) async throws -> Response {
    try JSONBody.answer(Account(try await chat.profile(of: exchange.user)))
  }

  func updateMe(_ exchange: Exchange) async throws -> Response {
    let body = try await exchange.body(UpdateMeRequest.self)
    let outcome = try await chat.changeProfile(
      nickname: body.nickname, by: exchange.actor, command: exchange.command())
    var account = Account(try await chat.profile(of: exchange.user))
    account.nickname = body.nickname
    account.position = outcome.stamp.position
    return try JSONBody.receipt(outcome.isNew, account)
  }

  func profile(_ exchange: Exchange) async throws -> Response {
    let row = try await chat.profile(of: exchange.id("userId"))
    return try JSONBody.answer(User(id: row.id, nickname: row.nickname))
  }

  func find(_ exchange: Exchange) async throws -> Response {
    guard let externalID = try exchange.query("externalId") else {
      throw Refusal.invalidQuery("externalId is needed.")
    }
    let row = try await chat.user(withExternalID: externalID)
    return try JSONBody.answer(UserList(users: row.map { [Account($0)] } ?? []))
  }
}

extension Account {
  fileprivate init(_ row: UserRow) {
    self.init(
      id: row.id, nickname: row.nickname, email: row.email, externalId: row.externalID,
      position: row.registered.position)
  }
}
