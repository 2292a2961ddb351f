import ChatPrimitives
import Foundation

/// What a password must be, after NIST SP 800-63B, section 5.1.1.2: long enough, and none of those that are tried first. It
/// need not have characters of several kinds, which makes nobody choose a better one.
package enum PasswordRules {
  /// What of a password counts, here and where it is hashed: its text in Unicode's form NFKC, as that section says, for
  /// one keyboard writes a syllable or an accented letter as one character and another as several.
  package static func prepared(_ password: String) -> [UInt8] {
    // No account has a password that is longer: as it is, it is wrong like any other.
    guard password.utf8.count <= Limits.passwordBytes, CombiningMarks.areFew(in: password) else {
      return Array(password.utf8)
    }
    return Array(password.precomposedStringWithCompatibilityMapping.utf8)
  }

  /// - Parameters:
  ///   - email: of the account, if it has one.
  ///   - nickname: of the account.
  package static func check(_ password: String, email: String?, nickname: String) throws(ServiceError) {
    guard password.utf8.count <= Limits.passwordBytes else { throw .invalid(.passwordTooLong) }
    let prepared = String(decoding: prepared(password), as: UTF8.self)
    guard prepared.count >= Limits.passwordMinimumCharacters else { throw .invalid(.passwordTooShort) }
    let folded = prepared.lowercased()
    let own = [email, email.map { String($0.prefix { $0 != "@" }) }, nickname].compactMap { $0?.lowercased() }
    guard !CommonPasswords.all.contains(folded), !own.contains(folded) else {
      throw .invalid(.passwordTooCommon)
    }
  }
}
