import ArgumentParser
import ChatPrimitives
import ChatProjections
import EventLog

/// Reads the read models of a data directory, also while a server runs.
struct SupportReader {
  /// How many users are named if several have the same name.
  private static let namedUsers = 10

  private let directory: String
  private let log: LogReader

  init(_ data: DataOption) throws {
    directory = data.readModelsDirectory
    log = try data.openLog()
  }

  func accounts<Value>(_ body: (AccountsQueries) throws -> Value) throws -> Value {
    try read(AccountsProjection.self, body)
  }

  func rooms<Value>(_ body: (RoomsQueries) throws -> Value) throws -> Value {
    try read(RoomsProjection.self, body)
  }

  private func read<P: Projection, Value>(_ projection: P.Type, _ body: (P.Queries) throws -> Value) throws -> Value {
    do {
      let (value, position) = try StoredReadModel.read(
        projection, in: directory, logIdentity: log.identity.bytes, body)
      if position < log.head {
        Terminal.printError(
          "hansard: the read model \(P.name) has applied \(position) of \(log.head) events, so this is an earlier state\n"
        )
      }
      return value
    } catch let error as ProjectionError where [.missingFile, .foreignFile].contains(error.code) {
      throw ToolError(error.description, next: "start the server once, or run hansard replay")
    }
  }

  /// The part of a list of sessions or devices that is printed.
  /// - Parameters:
  ///   - user: names the user whose rows are listed; nil lists those of all users.
  ///   - position: where the log has the beginning of the row.
  ///   - ofUser: all rows of a user, the newest first.
  ///   - ofAll: the rows of all users before a position, the newest first, up to a number of rows.
  func rows<Row>(
    _ list: ListOptions, of user: String?, position: (Row) -> LogPosition,
    ofUser: (AccountsQueries, UserID) throws -> [Row],
    ofAll: (AccountsQueries, LogPosition, Int) throws -> [(UserID, Row)]
  ) throws -> [(user: UserID, row: Row)] {
    guard let user else {
      return try accounts { try ofAll($0, list.start, list.limit) }.map { (user: $0.0, row: $0.1) }
    }
    let id = try self.user(user).id
    return try accounts { try ofUser($0, id) }.filter { position($0) < list.start }.prefix(list.limit)
      .map { (user: id, row: $0) }
  }

  // MARK: - Users

  /// Finds a user by ID, email address, external ID or nickname.
  func user(_ text: String) throws -> UserRow {
    let found = try accounts { accounts -> [UserRow] in
      if let id = UserID(text), let user = try accounts.user(id) { return [user] }
      let unique = [try accounts.user(email: text), try accounts.user(externalID: text)].compactMap { $0 }
      let all = unique + (try accounts.users(nickname: text, limit: Self.namedUsers + 1))
      var seen: Set<UserID> = []
      return all.filter { seen.insert($0.id).inserted }
    }
    guard let first = found.first else {
      throw ToolError(
        "there is no user \(text)", because: "it is no user's ID, email address, external ID or nickname")
    }
    guard found.count == 1 else {
      let ids = found.prefix(Self.namedUsers).map { "\($0.id)" }.joined(separator: ", ")
      throw ToolError(
        "\(text) names several users", because: "among them are \(ids)", next: "name one of them by the ID")
    }
    return first
  }
}

/// The options of all commands for support.
struct SupportOptions: ParsableArguments {
  @OptionGroup var data: DataOption

  @Flag(help: "Print one JSON object per line.")
  var json = false

  func reader() throws -> SupportReader { try SupportReader(data) }
}

/// Which part of a list is printed.
struct ListOptions: ParsableArguments {
  /// The largest number of rows of a list.
  private static let mostRows = 10_000

  @Option(help: "How many rows to print, newest first.")
  var limit = 50

  @Option(help: ArgumentHelp("Only rows before this position.", valueName: "position"))
  var before: UInt64?

  var start: LogPosition { LogPosition(before ?? UInt64(Int64.max)) }

  func validate() throws {
    guard (1...Self.mostRows).contains(limit) else {
      throw ValidationError("--limit \(limit) is not in the range 1 to \(Self.mostRows).")
    }
  }
}

/// One entity, as a row of a list or by itself.
struct SupportRecord {
  /// The name and value of each field.
  var fields: [(String, JSONValue)]

  /// Prints a list: a table, or JSON lines. A table has only these fields.
  static func print(_ records: [SupportRecord], columns: [String], json: Bool) throws {
    let output = ByteOutput()
    if json {
      for record in records { try output.line(.object(record.fields)) }
    } else {
      let rows = records.map { record in columns.map { name in record.cell(name) } }
      let titles = columns.map { $0 == "position" ? TextTable.Column.right("POSITION") : .left($0.uppercased()) }
      for line in TextTable.lines(titles, rows, limit: Terminal.columns(of: Terminal.standardOutput)) {
        try output.line(line)
      }
    }
    try output.flush()
  }

  /// Prints entities that have the same ID, which is unique only for each user.
  /// - Parameter error: what is said if there is none.
  static func printEach(_ records: [SupportRecord], orNone error: String, json: Bool) throws {
    guard !records.isEmpty else { throw ToolError(error) }
    for record in records { try record.print(json: json) }
  }

  func print(json: Bool) throws {
    let output = ByteOutput()
    if json {
      try output.line(.object(fields))
    } else {
      for line in FieldList.lines(fields) { try output.line(line) }
    }
    try output.flush()
  }

  private func cell(_ name: String) -> String {
    switch fields.first(where: { $0.0 == name })?.1 ?? .null {
    case .null: "-"
    case .text(let text): TextColumns.visible(text)
    case let value: value.encoded
    }
  }
}
