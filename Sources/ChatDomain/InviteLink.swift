package import ChatPrimitives

/// A link that lets whoever holds it in, with the role that it gives.
package struct InviteLink<GivenRole: InvitableRole>: Sendable, Hashable {
  package var id: InviteID
  /// SHA-256 of the token; the token itself is never written.
  package var tokenHash: [UInt8]
  /// The role that whoever accepts it gets.
  package var role: GivenRole
  package var expiresAt: Timestamp
  /// How many users may accept it; nil means as many as there is place for.
  package var maximumUses: UInt32?

  package init(id: InviteID, tokenHash: [UInt8], role: GivenRole, expiresAt: Timestamp, maximumUses: UInt32?) {
    self.id = id
    self.tokenHash = tokenHash
    self.role = role
    self.expiresAt = expiresAt
    self.maximumUses = maximumUses
  }

  package var fingerprint: Fingerprint {
    Fingerprint(
      .id(id.uuid), .number(Int64(role.rawValue)), .number(expiresAt.milliseconds),
      .number(maximumUses.map(Int64.init)))
  }
}

extension InviteLink {
  /// When it ends and how often it can be used lie within bounds.
  func requireForm(at time: Timestamp) throws(Rejection) {
    let latest = time.adding(milliseconds: Limits.inviteLifetimeMilliseconds)
    guard expiresAt > time, expiresAt <= latest else { throw .inviteExpiryOutOfRange }
    if let maximumUses {
      guard maximumUses >= 1, maximumUses <= Limits.inviteUses else { throw .inviteUsesOutOfRange }
    }
  }
}

/// Into a room.
package typealias Invite = InviteLink<Role>
/// Into a workspace.
package typealias WorkspaceInvite = InviteLink<WorkspaceRole>

/// What a link can give.
package protocol InvitableRole: RawRepresentable, Sendable, Hashable, Comparable where RawValue == UInt8 {}

extension Role: InvitableRole {}
extension WorkspaceRole: InvitableRole {}

/// A link and what became of it.
package struct InviteLinkState<GivenRole: InvitableRole>: Sendable, Hashable {
  package var invite: InviteLink<GivenRole>
  package var created: Stamp
  /// nil when a service made it for itself.
  package var maker: UserID?
  /// How many joins came by it. Who leaves and joins again counts again.
  package var uses: UInt64
  package var revoked: Stamp?

  package init(
    invite: InviteLink<GivenRole>, created: Stamp, maker: UserID? = nil, uses: UInt64 = 0, revoked: Stamp? = nil
  ) {
    self.invite = invite
    self.created = created
    self.maker = maker
    self.uses = uses
    self.revoked = revoked
  }

  /// Neither revoked nor expired; a used-up one still counts as live, for its uses can be looked at.
  package func isLive(at time: Timestamp) -> Bool { revoked == nil && time < invite.expiresAt }

  package var isUsedUp: Bool { invite.maximumUses.map { uses >= UInt64($0) } ?? false }

  func requireUsable(at time: Timestamp) throws(Rejection) {
    guard revoked == nil else { throw .inviteRevoked }
    guard isLive(at: time) else { throw .inviteExpired }
    guard !isUsedUp else { throw .inviteUsedUp }
  }
}

package typealias InviteState = InviteLinkState<Role>
package typealias WorkspaceInviteState = InviteLinkState<WorkspaceRole>
