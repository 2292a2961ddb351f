/// What the operator allows accounts to do.
package struct AccountRules: Sendable, Hashable {
  /// Anyone may register with a password and without an e-mail address.
  package var allowsGuests: Bool
  /// Guests may create rooms and workspaces. Otherwise they can only join those of others.
  package var guestsCreateRooms: Bool
  /// How long an unused refresh token is valid, in milliseconds; nil for no limit.
  package var refreshTokenLifetimeMilliseconds: Int64?
  /// Invites may be created that never expire.
  package var allowsInvitesWithoutExpiry: Bool
  /// Who can be found by what.
  package var finding = FindingRules()

  package init(
    allowsGuests: Bool = false, guestsCreateRooms: Bool = false, refreshTokenLifetimeMilliseconds: Int64? = nil,
    allowsInvitesWithoutExpiry: Bool = false
  ) {
    self.allowsGuests = allowsGuests
    self.guestsCreateRooms = guestsCreateRooms
    self.refreshTokenLifetimeMilliseconds = refreshTokenLifetimeMilliseconds
    self.allowsInvitesWithoutExpiry = allowsInvitesWithoutExpiry
  }
}
