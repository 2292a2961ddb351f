import ArgumentParser
import ChatDomain
import ChatPrimitives
import ChatProjections

/// `hansard rooms`: shows rooms to support.
struct RoomsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rooms", abstract: "Lists rooms, or shows one with its members.", subcommands: [List.self, Show.self])

  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Lists rooms, the newest first.")

    @OptionGroup var options: SupportOptions
    @OptionGroup var list: ListOptions

    @Option(help: "Only rooms with this member: an ID, email address, external ID or nickname.")
    var user: String?

    func run() async throws {
      try await ToolError.report {
        let reader = try options.reader()
        let member = try user.map { try reader.user($0).id }
        let rooms = try reader.rooms { rooms in
          if let member { return try rooms.rooms(of: member, before: list.start, limit: list.limit) }
          return try rooms.rooms(before: list.start, limit: list.limit)
        }
        try SupportRecord.print(
          rooms.map { SupportRecord($0) },
          columns: ["position", "createdAt", "id", "kind", "members", "messages", "archivedAt", "name"],
          json: options.json)
      }
    }
  }

  struct Show: AsyncParsableCommand {
    /// How many members are shown, in the order in which they joined.
    private static let shownMembers = 200

    static let configuration = CommandConfiguration(abstract: "Shows one room and its first 200 members.")

    @OptionGroup var options: SupportOptions

    @Argument(help: "The room's ID.")
    var room: String

    func run() async throws {
      try await ToolError.report {
        let id = try RoomID(argument: room)
        let found = try options.reader().rooms { rooms in
          (try rooms.room(id), try rooms.members(of: id, limit: Self.shownMembers))
        }
        guard let room = found.0 else { throw ToolError("there is no room \(id)") }
        let members = found.1.members.map { SupportRecord($0, nickname: found.1.profiles[$0.user]?.nickname) }
        var record = SupportRecord(room)
        record.fields += [
          ("topic", .text(orNull: room.topic)),
          ("creator", .text(orNull: room.creator?.description)),
          ("isPublic", .bool(room.isPublic)),
          ("deletedMessages", .number(room.deletedCount)),
          ("lastMessageAt", .text(orNull: room.lastMessage?.sentAt.rfc3339)),
        ]
        if options.json {
          record.fields.append(("firstMembers", .list(members.map { .object($0.fields) })))
          return try record.print(json: true)
        }
        try record.print(json: false)
        try SupportRecord.print(members, columns: ["position", "joinedAt", "userId", "role", "nickname"], json: false)
      }
    }
  }
}

extension SupportRecord {
  fileprivate init(_ room: RoomRow) {
    fields = [
      ("position", .number(room.created.position.value)),
      ("createdAt", .text(room.created.time.rfc3339)),
      ("id", .text(room.id.description)),
      ("kind", .text(room.kind.name)),
      ("name", .text(room.name)),
      ("workspaceId", .text(orNull: room.workspace?.description)),
      ("members", .number(room.memberCount)),
      ("messages", .number(room.lastOrdinal)),
      ("archivedAt", .text(orNull: room.archived?.time.rfc3339)),
    ]
  }

  fileprivate init(_ member: MemberRow, nickname: String?) {
    fields = [
      ("position", .number(member.joined.position.value)),
      ("joinedAt", .text(member.joined.time.rfc3339)),
      ("userId", .text(member.user.description)),
      ("nickname", .text(orNull: nickname)),
      ("role", .text(member.role.name)),
    ]
  }
}
