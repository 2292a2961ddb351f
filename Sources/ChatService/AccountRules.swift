/// What the operator lets accounts do.
package struct AccountRules: Sendable, Hashable {
  /// Anyone may register with a password and without an e-mail address.
  package var allowsGuests: Bool
  /// Guests may create rooms and workspaces; without it they take part in those of others.
  package var guestsCreateRooms: Bool
  /// How long a refresh token is good for while it is not used, in milliseconds; nil for ever.
  package var refreshTokenLifetimeMilliseconds: Int64?

  package init(
    allowsGuests: Bool = false, guestsCreateRooms: Bool = false, refreshTokenLifetimeMilliseconds: Int64? = nil
  ) {
    self.allowsGuests = allowsGuests
    self.guestsCreateRooms = guestsCreateRooms
    self.refreshTokenLifetimeMilliseconds = refreshTokenLifetimeMilliseconds
  }
}
