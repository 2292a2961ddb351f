import ChatDomain
import ChatPrimitives
import ChatProtocol

/// What a client requests with `POST /v1/rooms`. Each kind of room has its own fields.
enum NewRoom {
  /// The ID is the client's; nil if it sent none.
  case room(RoomID?, RoomCreation)
  case direct(with: [UserID], in: WorkspaceID?)

  init(_ body: CreateRoomRequest, by creator: UserID?) throws {
    let kind = try Self.kind(body.kind)
    if kind == .direct {
      try Self.refuseFields(besidesMembers: body)
      guard let members = body.memberIds else {
        throw Refusal.invalidField("The field \"memberIds\" is missing.", at: "/memberIds")
      }
      guard creator != nil else { throw Refusal.actingUserRequired }
      self = .direct(with: members, in: body.workspaceId)
      return
    }
    guard let name = body.name else { throw Refusal.invalidField("The field \"name\" is missing.", at: "/name") }
    let members = Set(body.memberIds ?? []).filter { $0 != creator }.sorted()
    guard members.count <= Limits.membersAtCreation else {
      throw Refusal.invalidField(
        "The field \"memberIds\" can name at most \(Limits.membersAtCreation) users besides the caller.",
        at: "/memberIds")
    }
    try Self.refuse(
      body.workspaceId != nil && kind != .channel, "workspaceId is allowed only for a channel or a direct room.",
      at: "/workspaceId")
    try Self.refuse(
      body.isPublic == true && body.workspaceId == nil, "isPublic is allowed only for a channel of a workspace.",
      at: "/isPublic")
    let creation = RoomCreation(
      kind: kind, name: name, creator: creator, workspace: body.workspaceId, isPublic: body.isPublic ?? false,
      topic: body.topic, participants: members, custom: body.custom?.canonicalText)
    self = .room(body.id, creation)
  }

  /// `group` if the client sent no kind.
  static func kind(_ name: String?) throws -> RoomKind {
    try name.map { try RoomKind($0, field: "kind") } ?? .group
  }

  /// Rejects the fields of other rooms in a request for a direct room.
  private static func refuseFields(besidesMembers body: CreateRoomRequest) throws(Refusal) {
    let fields = [
      ("/id", body.id != nil), ("/name", body.name != nil), ("/topic", body.topic != nil),
      ("/isPublic", body.isPublic != nil), ("/custom", body.custom != nil),
    ]
    let problems = fields.filter(\.1).map { field, _ in
      FieldProblem(
        field: field, code: ProblemCode.invalidField.rawValue,
        detail: "A direct room takes only memberIds and workspaceId; its ID is derived from them.")
    }
    if !problems.isEmpty { throw .invalidFields(problems) }
  }

  private static func refuse(_ isWrong: Bool, _ why: String, at pointer: String) throws {
    if isWrong { throw Refusal.invalidField(why, at: pointer) }
  }
}
