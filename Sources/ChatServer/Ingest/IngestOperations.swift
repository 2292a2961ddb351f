import ChatDomain
import ChatPrimitives
import ChatProtocol
import ChatService

/// The fields that each op accepts, and the command that it makes. The table in `docs/ingest.md` lists the same.
enum IngestOperation: String, CaseIterable {
  case registerUser = "user.register"
  case createRoom = "room.create"
  case joinRoom = "member.join"
  case leaveRoom = "member.leave"
  case sendMessage = "message.send"
  case editMessage = "message.edit"
  case deleteMessage = "message.delete"
  case addReaction = "reaction.add"
  case removeReaction = "reaction.remove"
  case pinMessage = "message.pin"
  case unpinMessage = "message.unpin"
  case moveReadMarker = "read-marker.move"

  private typealias Field = IngestLine.CodingKeys

  /// The accepted fields, besides `op` and `sentAt`, which every op accepts.
  private var fields: [IngestLine.CodingKeys] {
    switch self {
    case .registerUser: [.id, .nickname, .externalId]
    case .createRoom: [.as, .id, .name, .kind]
    case .joinRoom: [.as, .roomId, .key]
    case .leaveRoom: [.as, .roomId, .key]
    case .sendMessage: [.as, .roomId, .id, .text, .replyTo, .threadId, .mentions, .attachments, .type, .data, .silent]
    case .editMessage: [.as, .roomId, .id, .text, .mentions, .data, .key]
    case .deleteMessage: [.as, .roomId, .id, .key]
    case .addReaction, .removeReaction: [.as, .roomId, .messageId, .emoji, .key]
    case .pinMessage, .unpinMessage: [.as, .roomId, .messageId, .key]
    case .moveReadMarker: [.as, .roomId, .messageId, .key]
    }
  }

  /// The command for a line.
  /// - Parameter caller: who sends the stream.
  static func request(for line: IngestLine, by caller: Principal, chat: ChatService) throws -> ChatService.Request {
    guard let operation = IngestOperation(rawValue: line.op) else {
      throw Refusal.invalidField("op must be one of \(allCases.map(\.rawValue).joined(separator: ", ")).")
    }
    let accepted = operation.fields
    for field in line.presentFields where !accepted.contains(field) {
      let flaw = BodyFlaw(path: [.member(field.stringValue)], kind: .unknownField)
      throw Refusal.invalidFields([FieldProblem(flaw)])
    }
    return try operation.request(line, try principal(line, caller), chat)
  }

  private static func principal(_ line: IngestLine, _ caller: Principal) throws -> Principal {
    guard caller.service != nil else {
      if line.as != nil || line.sentAt != nil { throw ServiceError.rejected(.serviceOnly) }
      return caller
    }
    var principal = caller
    if let user = line.as { principal.user = user }
    return principal
  }

  private func request(_ line: IngestLine, _ principal: Principal, _ chat: ChatService) throws -> ChatService.Request {
    switch self {
    case .registerUser: return try registration(line, principal, chat)
    case .createRoom:
      let creation = RoomCreation(
        kind: try kind(line), name: try require(line.name, .name), creator: principal.user)
      return ChatService.Request(
        principal, .room(RoomID(try require(line.id, .id).uuid), .lifecycle(.create(creation))),
        originalTime: line.sentAt)
    case .sendMessage:
      let message = MessageID(try require(line.id, .id).uuid)
      let room = try require(line.roomId, .roomId)
      return try chat.send(
        try line.message(), as: message, to: room, by: try acting(principal), originalTime: line.sentAt)
    case .joinRoom, .leaveRoom, .editMessage, .deleteMessage, .addReaction, .removeReaction, .pinMessage,
      .unpinMessage, .moveReadMarker:
      return ChatService.Request(
        try acting(principal), .room(try require(line.roomId, .roomId), try keyedCommand(line)),
        command: try line.command(), originalTime: line.sentAt)
    }
  }

  private func kind(_ line: IngestLine) throws -> RoomKind {
    let kind = try NewRoom.kind(line.kind)
    guard kind != .direct else { throw Refusal.invalidField("kind must be group or channel.") }
    return kind
  }

  private func keyedCommand(_ line: IngestLine) throws -> RoomCommand {
    switch self {
    case .joinRoom: return .members(.join)
    case .leaveRoom: return .members(.leave)
    case .editMessage:
      return .messages(
        .edit(
          MessageID(try require(line.id, .id).uuid),
          try MessageEdit(text: line.text, mentions: line.mentions, data: line.data)))
    case .deleteMessage: return .messages(.delete(MessageID(try require(line.id, .id).uuid)))
    case .addReaction:
      return .annotations(.react(try require(line.messageId, .messageId), try require(line.emoji, .emoji)))
    case .removeReaction:
      return .annotations(.unreact(try require(line.messageId, .messageId), try require(line.emoji, .emoji)))
    case .pinMessage: return .annotations(.pin(try require(line.messageId, .messageId)))
    case .unpinMessage: return .annotations(.unpin(try require(line.messageId, .messageId)))
    case .moveReadMarker: return .reading(.moveMarker(to: try require(line.messageId, .messageId)))
    case .registerUser, .createRoom, .sendMessage: throw Refusal.invalidField("op")
    }
  }

  private func registration(
    _ line: IngestLine, _ principal: Principal, _ chat: ChatService
  ) throws
    -> ChatService.Request
  {
    guard principal.service != nil else { throw ServiceError.rejected(.serviceOnly) }
    let registration = Registration(
      nickname: try require(line.nickname, .nickname), email: nil, externalID: line.externalId, credential: nil,
      commitmentKey: ChatService.randomBytes(Registration.commitmentKeyBytes))
    return chat.register(
      UserID(try require(line.id, .id).uuid), registration, by: principal, originalTime: line.sentAt)
  }

  private func acting(_ principal: Principal) throws -> Principal {
    guard principal.user != nil else { throw Refusal.actingUserRequired }
    return principal
  }

  private func require<Value>(_ value: Value?, _ field: IngestLine.CodingKeys) throws -> Value {
    guard let value else { throw Refusal.invalidField("The op \(rawValue) needs the field \"\(field.stringValue)\".") }
    return value
  }
}

extension IngestLine {
  fileprivate func message() throws -> NewMessage {
    guard text != nil || attachments?.isEmpty == false || type != nil else {
      throw Refusal.invalidField("The op \(op) needs one of the fields \"text\", \"attachments\" and \"type\".")
    }
    let data = data == .null ? nil : data
    if replyTo == nil, threadId == nil, mentions == nil, attachments == nil, type == nil, data == nil, silent == nil {
      return .plain(text ?? "")
    }
    return NewMessage(
      text: text ?? "", replyTo: replyTo, thread: threadId, mentions: Mentions(mentions),
      attachments: NewMessage.attachments(attachments), custom: try CustomPart(type: type, data: data, silent: silent))
  }

  fileprivate func command() throws -> CommandID? {
    guard let key else { return nil }
    guard let command = CommandID(key: key) else {
      throw Refusal.invalidField("key must have 1 to \(CommandID.keyBytes) characters of printable ASCII.")
    }
    return command
  }

  /// The fields that the line has, except those that every op accepts.
  fileprivate var presentFields: [CodingKeys] {
    var present: [CodingKeys] = []
    if self.as != nil { present.append(.as) }
    if id != nil { present.append(.id) }
    if roomId != nil { present.append(.roomId) }
    if messageId != nil { present.append(.messageId) }
    if text != nil { present.append(.text) }
    if replyTo != nil { present.append(.replyTo) }
    if threadId != nil { present.append(.threadId) }
    if mentions != nil { present.append(.mentions) }
    if attachments != nil { present.append(.attachments) }
    if type != nil { present.append(.type) }
    // In an edit, null sets the data to null. Elsewhere it means no data.
    if data != nil, data != .null { present.append(.data) }
    if silent != nil { present.append(.silent) }
    if emoji != nil { present.append(.emoji) }
    if name != nil { present.append(.name) }
    if kind != nil { present.append(.kind) }
    if nickname != nil { present.append(.nickname) }
    if externalId != nil { present.append(.externalId) }
    if key != nil { present.append(.key) }
    return present
  }
}
