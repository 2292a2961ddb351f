import ArgumentParser
import ChatDomain
import ChatPrimitives
import ChatProjections

/// `hansard devices`: shows devices to support.
struct DevicesCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "devices", abstract: "Lists devices, or shows one.", subcommands: [List.self, Show.self])

  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Lists devices, the newest first.")

    @OptionGroup var options: SupportOptions
    @OptionGroup var list: ListOptions

    @Option(help: "Only devices of this user: an ID, email address, external ID or nickname.")
    var user: String?

    func run() async throws {
      try await ToolError.report {
        let devices = try options.reader().rows(
          list, of: user, position: \DeviceRow.registered.position, ofUser: { try $0.devices(of: $1).reversed() },
          ofAll: { try $0.devices(before: $1, limit: $2).map { ($0.user, $0.device) } })
        try SupportRecord.print(
          devices.map { SupportRecord($0.row, of: $0.user) },
          columns: ["position", "registeredAt", "id", "userId", "pushProviders", "notifications", "type", "name"],
          json: options.json)
      }
    }
  }

  struct Show: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Shows one device.", discussion: "Two users can have devices with the same ID; then both are shown.")

    @OptionGroup var options: SupportOptions

    @Argument(help: "The device's ID.")
    var device: String

    func run() async throws {
      try await ToolError.report {
        let id = try DeviceID(argument: device)
        let devices = try options.reader().accounts { try $0.devices(id) }
        try SupportRecord.printEach(
          devices.map { SupportRecord($0.device, of: $0.user) }, orNone: "there is no device \(id)", json: options.json)
      }
    }
  }
}

extension SupportRecord {
  /// Shows which push providers the device has tokens for, but no token.
  fileprivate init(_ device: DeviceRow, of user: UserID) {
    let description = device.description
    fields = [
      ("position", .number(device.registered.position.value)),
      ("registeredAt", .text(device.registered.time.rfc3339)),
      ("id", .text(device.id.description)),
      ("userId", .text(user.description)),
      ("name", .text(orNull: description.name)),
      ("type", .text(orNull: description.type)),
      ("osVersion", .text(orNull: description.osVersion)),
      ("language", .text(orNull: description.language)),
      ("pushProviders", .list(description.tokens.map { .text($0.provider.name) })),
      ("apnsEnvironment", .text(orNull: description.apnsEnvironment?.name)),
      ("notifications", .text(description.notifications.name)),
      ("roomChanges", .bool(description.roomChanges)),
      ("updatedAt", .text(device.updatedAt.rfc3339)),
    ]
  }
}
