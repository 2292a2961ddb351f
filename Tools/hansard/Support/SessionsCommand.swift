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
        let reader = try options.reader()
        let sessions: [(user: UserID, session: SessionRow)]
        if let user {
          let id = try reader.user(user).id
          sessions = try reader.accounts { try $0.sessions(of: id) }.filter { $0.started.position < list.start }
            .prefix(list.limit).map { (user: id, session: $0) }
        } else {
          sessions = try reader.accounts { try $0.sessions(before: list.start, limit: list.limit) }
        }
        try SupportRecord.print(
          sessions.map { SupportRecord($0.session, of: $0.user) },
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
        let id = try SupportRecord.id(session, SessionID.self)
        let sessions = try options.reader().accounts { try $0.sessions(id) }
        guard !sessions.isEmpty else { throw ToolError("there is no session \(id)") }
        for found in sessions { try SupportRecord(found.session, of: found.user).print(json: options.json) }
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

  /// Parses the ID on a command line.
  static func id<Entity>(_ text: String, _ type: ID<Entity>.Type) throws -> ID<Entity> {
    guard let id = ID<Entity>(text) else { throw ValidationError("\(text) is not a UUID.") }
    return id
  }
}
