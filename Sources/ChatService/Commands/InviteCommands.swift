package import ChatDomain
package import ChatPrimitives
package import Crypto

/// The tokens of invites. Each is derived from the server's key, the ID of the room or workspace, and the invite's ID,
/// so the log need not store it and a retry gets the same one. The room or workspace is included because an invite's ID
/// is unique only there. Rooms and workspaces use different keys, because they may have the same ID.
package struct InviteTokens: Sendable {
  /// Bytes of a token: 192 bits that nobody can guess without the key.
  static let byteCount = 24

  private let roomKey: SymmetricKey
  private let workspaceKey: SymmetricKey

  package init(_ keys: ServerKeys) {
    roomKey = keys.key(for: "invite-token")
    workspaceKey = keys.key(for: "workspace-invite-token")
  }

  /// The token in an invite's URL: URL-safe base64 without padding.
  package func token(for invite: InviteID, of room: RoomID) -> String {
    token(room.uuid, invite, roomKey)
  }

  package func token(for invite: InviteID, of workspace: WorkspaceID) -> String {
    token(workspace.uuid, invite, workspaceKey)
  }

  private func token(_ place: UUIDBytes, _ invite: InviteID, _ key: SymmetricKey) -> String {
    let code = HMAC<SHA256>.authenticationCode(for: place.bytes + invite.uuid.bytes, using: key)
    return Base64URL.encode(Array(code.prefix(Self.byteCount)))
  }

  /// What the log stores of a token.
  package static func hash(of token: String) -> [UInt8] {
    Array(SHA256.hash(data: Array(token.utf8)))
  }
}

extension ChatService {
  /// How long an invite is valid if the client does not set an expiry: seven days.
  package static let inviteDefaultLifetimeMilliseconds: Int64 = 7 * 24 * 60 * 60 * 1000

  /// The fields of a new invite.
  package struct NewInvite<GivenRole: InvitableRole>: Sendable {
    package var id: InviteID
    package var role: GivenRole
    package var expiry: InviteExpiry
    package var maximumUses: UInt32?

    package init(id: InviteID, role: GivenRole, expiry: InviteExpiry = .standard, maximumUses: UInt32? = nil) {
      self.id = id
      self.role = role
      self.expiry = expiry
      self.maximumUses = maximumUses
    }
  }

  /// When a new invite expires, as the client asked.
  package enum InviteExpiry: Sendable, Hashable {
    /// After `inviteDefaultLifetimeMilliseconds`.
    case standard
    case at(Timestamp)
    case never
  }

  package func createInvite(
    _ newInvite: NewInvite<Role>, for room: RoomID, by principal: Principal
  ) async throws(ServiceError)
    -> ChatOutcome
  {
    let invite = link(newInvite, token: InviteTokens(keys).token(for: newInvite.id, of: room))
    let operation: ChatCommand.Operation =
      newInvite.expiry == .standard ? .roomInvite(room, invite) : .room(room, .sharing(.createInvite(invite)))
    return try await perform(Request(principal, operation))
  }

  package func createInvite(
    _ newInvite: NewInvite<WorkspaceRole>, for workspace: WorkspaceID, by principal: Principal
  ) async throws(ServiceError)
    -> ChatOutcome
  {
    let invite = link(newInvite, token: InviteTokens(keys).token(for: newInvite.id, of: workspace))
    let operation: ChatCommand.Operation =
      newInvite.expiry == .standard
      ? .workspaceInvite(workspace, invite) : .workspace(workspace, .sharing(.createInvite(invite)))
    return try await perform(Request(principal, operation))
  }

  private func link<GivenRole>(_ newInvite: NewInvite<GivenRole>, token: String) -> InviteLink<GivenRole> {
    let expiresAt: Timestamp? =
      switch newInvite.expiry {
      case .standard: now().adding(milliseconds: Self.inviteDefaultLifetimeMilliseconds)
      case .at(let time): time
      case .never: nil
      }
    return InviteLink(
      id: newInvite.id, tokenHash: InviteTokens.hash(of: token), role: newInvite.role, expiresAt: expiresAt,
      maximumUses: newInvite.maximumUses)
  }

  package func acceptInvite(
    token: String, by principal: Principal, command: CommandID?
  ) async throws(ServiceError)
    -> ChatOutcome
  {
    try await perform(
      Request(principal, .acceptInvite(tokenHash: InviteTokens.hash(of: token)), command: command))
  }
}
