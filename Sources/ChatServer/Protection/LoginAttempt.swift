import ChatPrimitives

/// What an attempt to prove a password counts against.
enum LoginAttempt: Sendable, Hashable {
  /// The account, whether it is named by its email address, by its ID or by its own token.
  case account(UserID, Evidence? = nil)
  /// A login name that no account has, whatever its case and form.
  case unknown(String)
  /// The repeated registration of an account, which distinguishes a right password from a wrong one as a login does.
  /// Its password is the one of the registration, so a correct one does not show who sends it now.
  case repeatedRegistration(UserID)

  /// What an attempt contains besides the password that a stranger does not have.
  enum Evidence: Sendable, Hashable {
    /// A device on which the account has logged in before. Only the account itself can see the device's ID.
    case device(DeviceID)
    /// An access token of the account; nil if the token belongs to no session.
    case session(SessionID?)
  }

  var evidence: Evidence? {
    switch self {
    case .account(_, let evidence): evidence
    case .unknown, .repeatedRegistration: nil
    }
  }

  /// Whether a correct password proves that the account's owner made the attempt.
  var provesHolder: Bool {
    switch self {
    case .account, .unknown: true
    case .repeatedRegistration: false
    }
  }
}
