import ChatPrimitives
import Foundation

/// The rules for passwords, after NIST SP 800-63B, section 5.1.1.2: long enough, and not among those that attackers try
/// first. Several kinds of characters are not required, because that does not lead to better passwords.
package enum PasswordRules {
  /// The bytes of a password that are checked and hashed: its text in Unicode's form NFKC, as that section says,
  /// because keyboards may write the same syllable or accented letter as one character or as several.
  package static func prepared(_ password: String) -> [UInt8] {
    // Too long for any account, or too slow to normalize: its text is used as it is.
    guard password.utf8.count <= Limits.passwordBytes, CombiningMarks.areFew(in: password) else {
      return Array(password.utf8)
    }
    return Array(password.precomposedStringWithCompatibilityMapping.utf8)
  }

  /// - Parameters:
  ///   - email: the account's address, if it has one.
  ///   - nickname: the account's nickname.
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
