import ArgumentParser
import ChatDomain
import ChatPrimitives
import ChatProjections

/// `hansard sessions`: shows to support who is logged in, and since when.
struct SessionsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sessions", abstract: "Lists sessions, or shows one.", subcommands: [List.self, Show.self])

  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Lists sessions, the newest first.")

    @OptionGroup var options: SupportOptions
    @OptionGroup var list: ListOptions

    @Option(help: "Only sessions of this user: an ID, email address, external ID or nickname.")
    var user: String?

    func run() async throws {
      try await ToolError.report {
        let sessions = try options.reader().rows(
          list, of: user, position: \SessionRow.started.position, ofUser: { try $0.sessions(of: $1) },
          ofAll: { try $0.sessions(before: $1, limit: $2).map { ($0.user, $0.session) } })
        try SupportRecord.print(
          sessions.map { SupportRecord($0.row, of: $0.user) },
          columns: ["position", "startedAt", "id", "userId", "deviceId", "endedAt", "endReason"], json: options.json)
      }
    }
  }

  struct Show: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Shows one session.")

    @OptionGroup var options: SupportOptions

    @Argument(help: "The session's ID.")
    var session: String

    func run() async throws {
      try await ToolError.report {
        let id = try SessionID(argument: session)
        let sessions = try options.reader().accounts { try $0.sessions(id) }
        try SupportRecord.printEach(
          sessions.map { SupportRecord($0.session, of: $0.user) }, orNone: "there is no session \(id)",
          json: options.json)
      }
    }
  }
}

extension SupportRecord {
  fileprivate init(_ session: SessionRow, of user: UserID) {
    fields = [
      ("position", .number(session.started.position.value)),
      ("startedAt", .text(session.started.time.rfc3339)),
      ("id", .text(session.id.description)),
      ("userId", .text(user.description)),
      ("deviceId", .text(orNull: session.device?.description)),
      ("refreshedAt", .text(session.pair.time.rfc3339)),
      ("refreshes", .number(UInt64(session.generation) - 1)),
      ("endedAt", .text(orNull: session.end?.stamp.time.rfc3339)),
      ("endReason", .text(orNull: session.end?.reason.name)),
    ]
  }
}
