import ArgumentParser
import ChatDomain
import ChatPrimitives
import ChatProjections

/// `hansard users`: shows accounts to support.
struct UsersCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "users", abstract: "Lists users, or shows one.", subcommands: [List.self, Show.self])

  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Lists users, the newest first.")

    @OptionGroup var options: SupportOptions
    @OptionGroup var list: ListOptions

    func run() async throws {
      try await ToolError.report {
        let users = try options.reader().accounts { try $0.users(before: list.start, limit: list.limit) }
        try SupportRecord.print(
          users.map { SupportRecord($0) },
          columns: ["position", "registeredAt", "id", "isGuest", "disabledAt", "externalId", "nickname"],
          json: options.json)
      }
    }
  }

  struct Show: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Shows one user.")

    @OptionGroup var options: SupportOptions

    @Argument(help: "The user's ID, email address, external ID or nickname.")
    var user: String

    func run() async throws {
      try await ToolError.report {
        let reader = try options.reader()
        let found = try reader.user(user)
        var record = SupportRecord(found)
        let (identities, sessions, devices) = try reader.accounts { accounts in
          (
            try accounts.identities(of: found.id), try accounts.openSessions(of: found.id).count,
            try accounts.devices(of: found.id).count
          )
        }
        record.fields += [
          ("issuers", .list(identities.map { .text($0.identity.issuer) })),
          ("openSessions", .count(sessions)),
          ("devices", .count(devices)),
          ("rooms", .number(try reader.rooms { try $0.roomCount(of: found.id) })),
        ]
        try record.print(json: options.json)
      }
    }
  }
}

extension SupportRecord {
  /// The email address is not shown, as in every tool.
  fileprivate init(_ user: UserRow) {
    fields = [
      ("position", .number(user.registered.position.value)),
      ("registeredAt", .text(user.registered.time.rfc3339)),
      ("id", .text(user.id.description)),
      ("nickname", .text(user.nickname)),
      ("externalId", .text(orNull: user.externalID)),
      ("picture", .text(orNull: user.picture?.description)),
      ("hasEmail", .bool(user.email != nil)),
      ("hasPassword", .bool(user.hasPassword)),
      ("isGuest", .bool(user.isGuest)),
      ("disabledAt", .text(orNull: user.disabled?.time.rfc3339)),
    ]
  }
}
