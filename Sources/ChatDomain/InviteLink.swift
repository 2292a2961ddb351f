package import ChatPrimitives

/// An invite: a link, perhaps also a code, that lets anyone who has it join with the role that it gives.
package struct InviteLink<GivenRole: InvitableRole>: Sendable, Hashable {
  package var id: InviteID
  /// SHA-256 of the token; the token itself is never stored.
  package var tokenHash: [UInt8]
  /// A keyed hash of the code; nil if it has none. The code itself is never stored.
  package var codeHash: [UInt8]?
  /// The role of a user who joins with the link.
  package var role: GivenRole
  /// Nil if it never expires.
  package var expiresAt: Timestamp?
  /// How many users may join with it; nil means no limit.
  package var maximumUses: UInt32?

  package init(
    id: InviteID, tokenHash: [UInt8], role: GivenRole, expiresAt: Timestamp?, maximumUses: UInt32?,
    codeHash: [UInt8]? = nil
  ) {
    self.id = id
    self.tokenHash = tokenHash
    self.role = role
    self.expiresAt = expiresAt
    self.maximumUses = maximumUses
    self.codeHash = codeHash
  }

  /// The hashes by which it is found.
  package var hashes: [[UInt8]] { codeHash.map { [tokenHash, $0] } ?? [tokenHash] }

  package var fingerprint: Fingerprint {
    let plain: [Fingerprint.Field] = [
      .id(id.uuid), .number(Int64(role.rawValue)), .number(expiresAt?.milliseconds),
      .number(maximumUses.map(Int64.init)),
    ]
    return Fingerprint(codeHash == nil ? plain : plain + [.text("code")])
  }
}

extension InviteLink {
  package func isExpired(at time: Timestamp) -> Bool { expiresAt.map { $0 <= time } ?? false }

  /// Whether it gives a role that an invite can give, and the expiry and the number of uses are within the limits. The
  /// decider checks that the role is not above that of the creator.
  /// - Parameter time: when it is created.
  package func fieldFlaws(at time: Timestamp) -> [FieldFlaw] {
    var fields = FieldCheck()
    fields.check("/role") { () throws(Rejection) in
      guard role != .owner else { throw .inviteRoleNotAllowed }
    }
    fields.check("/expiresAt") { () throws(Rejection) in
      guard let expiresAt else { return }
      let latest = time.adding(milliseconds: Limits.inviteLifetimeMilliseconds)
      guard expiresAt > time, expiresAt <= latest else { throw .inviteExpiryOutOfRange }
    }
    fields.check("/maxUses") { () throws(Rejection) in
      guard let maximumUses else { return }
      guard maximumUses >= 1, maximumUses <= Limits.inviteUses else { throw .inviteUsesOutOfRange }
    }
    return fields.flaws
  }
}

/// An invite to a room.
package typealias Invite = InviteLink<Role>
/// An invite to a workspace.
package typealias WorkspaceInvite = InviteLink<WorkspaceRole>

/// A role that an invite can give.
package protocol InvitableRole: RawRepresentable, Sendable, Hashable, Comparable where RawValue == UInt8 {
  /// No invite gives it.
  static var owner: Self { get }
}

extension Role: InvitableRole {}
extension WorkspaceRole: InvitableRole {}

/// An invite and what has happened to it.
package struct InviteLinkState<GivenRole: InvitableRole>: Sendable, Hashable {
  package var invite: InviteLink<GivenRole>
  package var created: Stamp
  /// nil if a service created it for itself.
  package var maker: UserID?
  /// How many joins used it. A user who leaves and joins again counts twice.
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

  /// Neither revoked nor expired. A used-up invite still counts as live, so that its uses can be read.
  package func isLive(at time: Timestamp) -> Bool { revoked == nil && !invite.isExpired(at: time) }

  package var isUsedUp: Bool { invite.maximumUses.map { uses >= UInt64($0) } ?? false }

  func requireUsable(at time: Timestamp) throws(Rejection) {
    guard revoked == nil else { throw .inviteRevoked }
    guard isLive(at: time) else { throw .inviteExpired }
    guard !isUsedUp else { throw .inviteUsedUp }
  }
}

package typealias InviteState = InviteLinkState<Role>
package typealias WorkspaceInviteState = InviteLinkState<WorkspaceRole>
