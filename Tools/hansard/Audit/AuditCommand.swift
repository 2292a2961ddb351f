import ArgumentParser
import ChatPrimitives
import ChatProjections
import EventLog
import EventStore

/// `hansard audit`: who did what, when, on which device, and at which position of the log.
struct AuditCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "audit",
    abstract: "Shows who did what, when, on which device and at which position.",
    discussion: """
      Reads only the log, up to the last durable event; it also works while a server runs. A row is shown if it \
      passes all filters. Passwords, keys, tokens and email addresses are never shown.
      """)

  @OptionGroup var data: DataOption

  @Option(help: ArgumentHelp("Only events of this room.", valueName: "id"))
  var room: String?

  @Option(
    help: ArgumentHelp(
      "Only events by this user or about this user: an ID, email address, external ID or nickname.", valueName: "user"))
  var user: String?

  @Option(help: ArgumentHelp("Only events from this device or about it.", valueName: "id"))
  var device: String?

  @Option(
    name: .customLong("type"), parsing: .upToNextOption,
    help: ArgumentHelp("Only these types, such as message.sent.", valueName: "name"))
  var types: [String] = []

  @Option(
    help: ArgumentHelp("Only events recorded at this time or later: RFC 3339, or a day in UTC.", valueName: "time"))
  var since: AuditTime?

  @Option(help: ArgumentHelp("Only what was recorded until this time, or on this day.", valueName: "time"))
  var until: AuditTime?

  @Option(help: ArgumentHelp("The first position.", valueName: "position"))
  var from: UInt64?

  @Option(help: ArgumentHelp("The last position.", valueName: "position"))
  var to: UInt64?

  @Option(help: "The output format.")
  var format: AuditFormat = .table

  func validate() throws {
    _ = try filter()
  }

  func run() async throws {
    var filter = try filter()
    try await ToolError.report {
      let log = try data.openLog()
      if filter.user == nil, let user { filter.user = try SupportReader(data).user(user).id }
      var writer = format.writer(to: ByteOutput())
      try writer.begin()
      try AuditScan(source: log, filter: filter).forEach { row in try writer.write(row) }
      try writer.end()
    }
  }

  private func filter() throws -> AuditFilter {
    AuditFilter(
      room: try room.map { try RoomID(argument: $0, of: "--room") }, user: user.flatMap { UserID($0) },
      device: try device.map { try DeviceID(argument: $0, of: "--device") },
      kinds: Set(try types.map(Self.kind)), since: since?.earliest, until: until?.latest,
      first: LogPosition(max(from ?? 1, 1)), last: to.map(LogPosition.init))
  }

  private static func kind(_ name: String) throws -> EventKind {
    if let kind = EventKind(name: name) { return kind }
    let names = EventKind.all.map(\.name).joined(separator: ", ")
    throw ValidationError("Unknown type \(name). The types are: \(names).")
  }
}
