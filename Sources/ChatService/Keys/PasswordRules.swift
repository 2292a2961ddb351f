import ChatPrimitives

/// What a password must be, after NIST SP 800-63B, section 5.1.1.2: long enough, and none of those that are tried first. It
/// need not have characters of several kinds, which makes nobody choose a better one.
package enum PasswordRules {
  /// - Parameters:
  ///   - email: of the account, if it has one.
  ///   - nickname: of the account.
  package static func check(_ password: String, email: String?, nickname: String) throws(ServiceError) {
    guard password.count >= Limits.passwordMinimumCharacters else { throw .invalid(.passwordTooShort) }
    guard password.utf8.count <= Limits.passwordBytes else { throw .invalid(.passwordTooLong) }
    let folded = password.lowercased()
    let own = [email, email.map { String($0.prefix { $0 != "@" }) }, nickname].compactMap { $0?.lowercased() }
    guard !CommonPasswords.all.contains(folded), !own.contains(folded) else {
      throw .invalid(.passwordTooCommon)
    }
  }
}
