package import ChatDomain
package import ChatPrimitives

extension ChatService {
  /// How long an invite is valid if the client does not set an expiry: seven days.
  package static let inviteDefaultLifetimeMilliseconds: Int64 = 7 * 24 * 60 * 60 * 1000

  /// The fields of a new invite.
  package struct NewInvite<GivenRole: InvitableRole>: Sendable {
    package var id: InviteID
    package var role: GivenRole
    package var expiry: InviteExpiry
    package var maximumUses: UInt32?
    /// Whether it can also be used with a code.
    package var hasCode: Bool

    package init(
      id: InviteID, role: GivenRole, expiry: InviteExpiry = .standard, maximumUses: UInt32? = nil,
      hasCode: Bool = false
    ) {
      self.id = id
      self.role = role
      self.expiry = expiry
      self.maximumUses = maximumUses
      self.hasCode = hasCode
    }
  }

  /// When a new invite expires, as the client asked.
  package enum InviteExpiry: Sendable, Hashable {
    /// After `inviteDefaultLifetimeMilliseconds`.
    case standard
    case at(Timestamp)
    case never

    /// - Parameter now: when the invite is created.
    fileprivate func time(from now: Timestamp) -> Timestamp? {
      switch self {
      case .standard: now.adding(milliseconds: ChatService.inviteDefaultLifetimeMilliseconds)
      case .at(let time): time
      case .never: nil
      }
    }
  }

  package func createInvite(
    _ newInvite: NewInvite<Role>, for room: RoomID, by principal: Principal
  ) async throws(ServiceError)
    -> ChatOutcome
  {
    let secrets = InviteSecrets(keys)
    let invite = link(
      newInvite, token: secrets.token(for: newInvite.id, of: room), code: secrets.code(for: newInvite.id, of: room))
    let operation: ChatCommand.Operation =
      newInvite.expiry == .standard ? .roomInvite(room, invite) : .room(room, .sharing(.createInvite(invite)))
    return try await perform(Request(principal, operation))
  }

  package func createInvite(
    _ newInvite: NewInvite<WorkspaceRole>, for workspace: WorkspaceID, by principal: Principal
  ) async throws(ServiceError)
    -> ChatOutcome
  {
    let secrets = InviteSecrets(keys)
    let invite = link(
      newInvite, token: secrets.token(for: newInvite.id, of: workspace),
      code: secrets.code(for: newInvite.id, of: workspace))
    let operation: ChatCommand.Operation =
      newInvite.expiry == .standard
      ? .workspaceInvite(workspace, invite) : .workspace(workspace, .sharing(.createInvite(invite)))
    return try await perform(Request(principal, operation))
  }

  /// What is wrong with the fields of a new invite, for a request that is rejected anyway.
  package func fieldFlaws<GivenRole>(of newInvite: NewInvite<GivenRole>) -> [FieldFlaw] {
    let time = now()
    return InviteLink(
      id: newInvite.id, tokenHash: [], role: newInvite.role, expiresAt: newInvite.expiry.time(from: time),
      maximumUses: newInvite.maximumUses
    ).fieldFlaws(at: time)
  }

  /// - Parameter code: the code that the invite has if it has one.
  private func link<GivenRole>(
    _ newInvite: NewInvite<GivenRole>, token: String, code: InviteCode
  ) -> InviteLink<GivenRole> {
    InviteLink(
      id: newInvite.id, tokenHash: InviteSecrets.hash(ofToken: token), role: newInvite.role,
      expiresAt: newInvite.expiry.time(from: now()), maximumUses: newInvite.maximumUses,
      codeHash: newInvite.hasCode ? InviteSecrets(keys).hash(of: code) : nil)
  }

  package func acceptInvite(
    _ secret: InviteSecret, by principal: Principal, command: CommandID?
  ) async throws(ServiceError)
    -> ChatOutcome
  {
    try await perform(
      Request(principal, .acceptInvite(hash: InviteSecrets(keys).hash(of: secret)), command: command))
  }
}
