import ChatDomain
import ChatPrimitives

/// One line for `POST /v1/ingest`. See `docs/ingest.md`.
struct ImportCommandLine {
  let op: String
  /// The ID of the created entity. For a join or a leave, the user's ID.
  let id: UUIDBytes
  let room: RoomID?
  /// The content of the line.
  let fields: JSONValue

  private init(_ op: String, _ id: UUIDBytes, _ room: RoomID?, _ fields: [(String, JSONValue)], at time: Timestamp) {
    self.op = op
    self.id = id
    self.room = room
    self.fields = .object([("op", .text(op))] + fields + [("sentAt", .text(time.rfc3339))])
  }

  /// Creates the line that registers a user. The nickname is the name without forbidden characters, shortened to the
  /// allowed length. The name is also the `externalId` if the server would accept it.
  static func registerUser(
    _ id: UserID, name: String, withExternalID: Bool, at time: Timestamp
  ) -> ImportCommandLine {
    let nickname = TextRules.withoutForbidden(name).cut(toBytes: Limits.nicknameBytes)
    var fields: [(String, JSONValue)] = [("id", .text(id.description)), ("nickname", .text(nickname))]
    if withExternalID, name.isExternalID { fields.append(("externalId", .text(name))) }
    return ImportCommandLine("user.register", id.uuid, nil, fields, at: time)
  }

  static func createRoom(_ id: RoomID, name: String, at time: Timestamp) -> ImportCommandLine {
    ImportCommandLine(
      "room.create", id.uuid, id,
      [
        ("id", .text(id.description)), ("kind", .text("group")),
        ("name", .text(TextRules.withoutForbidden(name).cut(toBytes: Limits.roomNameBytes))),
      ], at: time)
  }

  static func join(_ room: RoomID, _ user: UserID, key: CommandID, at time: Timestamp) -> ImportCommandLine {
    ImportCommandLine(
      "member.join", user.uuid, room,
      [("as", .text(user.description)), ("roomId", .text(room.description)), ("key", .text(key.description))],
      at: time)
  }

  static func leave(_ room: RoomID, _ user: UserID, key: CommandID, at time: Timestamp) -> ImportCommandLine {
    ImportCommandLine(
      "member.leave", user.uuid, room,
      [("as", .text(user.description)), ("roomId", .text(room.description)), ("key", .text(key.description))],
      at: time)
  }

  static func send(
    _ id: MessageID, _ room: RoomID, _ user: UserID, text: String, at time: Timestamp
  ) -> ImportCommandLine {
    ImportCommandLine(
      "message.send", id.uuid, room,
      [
        ("as", .text(user.description)), ("roomId", .text(room.description)), ("id", .text(id.description)),
        ("text", .text(text)),
      ], at: time)
  }
}

extension String {
  /// The longest prefix of whole characters that fits. If not even one character fits, the longest prefix of whole
  /// scalars.
  func cut(toBytes limit: Int) -> String {
    if utf8.count <= limit { return self }
    var result = ""
    var used = 0
    for character in self {
      used += character.utf8.count
      if used > limit { break }
      result.append(character)
    }
    if !result.isEmpty { return result }
    var scalars = String.UnicodeScalarView()
    used = 0
    for scalar in unicodeScalars {
      used += UTF8.width(scalar)
      if used > limit { break }
      scalars.append(scalar)
    }
    return String(scalars)
  }

  /// Whether the server would accept the text as an `externalId`.
  fileprivate var isExternalID: Bool {
    !isEmpty && utf8.count <= Limits.externalIDBytes
      && !unicodeScalars.contains { $0.properties.generalCategory == .control }
  }
}
