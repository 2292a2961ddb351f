import ChatPrimitives
import ChatProjections
import ChatProtocol
import ChatService
import Hummingbird

/// Many users at once: by their IDs, or by email address, external ID or nickname.
struct PeopleHandlers: Sendable {
  private static let keys = ["ids", "email", "externalId", "nickname"]

  let chat: ChatService
  let limit: PeopleLimit

  func list(_ context: HansardRequestContext) async throws -> TypedResponse<PublicProfileList> {
    let given = try Self.keys.filter { try context.query($0) != nil }
    guard given.count == 1 else {
      throw Refusal.invalidQuery("Exactly one of ids, email, externalId and nickname is needed.")
    }
    let (email, externalID, nickname) = try (
      context.query("email"), context.query("externalId"), context.query("nickname")
    )
    if nickname == nil, try context.query("limit") != nil {
      throw Refusal.invalidQuery("limit is allowed only together with nickname.")
    }
    let found: FoundUsers
    if let email {
      try Self.requireLength(of: email, "email", atMost: Limits.emailBytes)
      try admit(context, chat.rules.finding.byEmail, "email address")
      found = try await chat.findUser(email: email, by: context.reader)
    } else if let externalID {
      try Self.requireLength(of: externalID, "externalId", atMost: Limits.externalIDBytes)
      try admit(context, chat.rules.finding.byExternalID, "externalId")
      found = try await chat.findUser(externalID: externalID, by: context.reader)
    } else if let nickname {
      found = try await find(nickname: nickname, context)
    } else {
      return try await profiles(context)
    }
    return try await JSONBody.page(of: found.users.count) {
      PublicProfileList(users: found.users.map { PublicProfile($0) }, hasMore: found.hasMore)
    }
  }

  private func find(nickname: String, _ context: HansardRequestContext) async throws -> FoundUsers {
    try Self.requireLength(of: nickname, "nickname", atMost: Limits.nicknameBytes)
    guard let prefix = NicknamePrefix(nickname) else {
      throw Refusal.invalidQuery("nickname must have a character that is not a separate diacritic.")
    }
    let limit = try context.limit(atMost: Limits.usersFound)
    try admit(context, chat.rules.finding.byNickname, "nickname")
    return try await chat.findUsers(nickname: prefix, by: context.reader, limit: limit)
  }

  private func profiles(_ context: HansardRequestContext) async throws -> TypedResponse<PublicProfileList> {
    let texts = try context.request.uri.list("ids", atMost: Limits.usersFetched) ?? []
    let ids = try texts.map { text in
      guard let id = UserID(text) else { throw Refusal.invalidQuery("ids must be IDs, separated by commas.") }
      return id
    }
    let rows = try await chat.profiles(of: ids)
    return try await JSONBody.page(of: rows.count) { PublicProfileList(users: rows.map { PublicProfile($0) }) }
  }

  /// Counts the search, unless nobody can be found in this way.
  private func admit(
    _ context: HansardRequestContext, _ scope: FindingRules.Scope, _ property: String
  ) throws(Refusal) {
    guard scope != .nobody || context.reader == nil else { throw .findingNotAllowed(property) }
    try limit.admit(context.principal)
  }

  private static func requireLength(of text: String, _ name: String, atMost limit: Int) throws(Refusal) {
    guard !text.isEmpty, text.utf8.count <= limit else {
      throw .invalidQuery("\(name) must have 1 to \(limit) bytes.")
    }
  }
}
