import ChatPrimitives

/// What an attempt to prove a password is counted under.
enum LoginAttempt: Sendable, Hashable {
  /// However the account is named: by its e-mail address, by its ID or by its own token.
  case account(UserID, Evidence? = nil)
  /// A name to log in by, in any case and form, that no account has.
  case unknown(String)
  /// The repeat of an account's registration, which tells a right password from a wrong one as a login does. Its password
  /// is that of the registration, so a right one shows nothing of who sends it now.
  case repeatedRegistration(UserID)

  /// What an attempt comes with, beside the password, that a stranger does not have.
  enum Evidence: Sendable, Hashable {
    /// A device that the account has logged in on before. Its ID is shown to nobody but the account itself.
    case device(DeviceID)
    /// An access token of the account; nil for one that belongs to no session.
    case session(SessionID?)
  }

  var evidence: Evidence? {
    switch self {
    case .account(_, let evidence): evidence
    case .unknown, .repeatedRegistration: nil
    }
  }

  /// Whether a right password shows that it is the account's holder who asks.
  var provesHolder: Bool {
    switch self {
    case .account, .unknown: true
    case .repeatedRegistration: false
    }
  }
}
