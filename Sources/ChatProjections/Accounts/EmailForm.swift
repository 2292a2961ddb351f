import Foundation

/// The form in which email addresses are compared: lower case, in Unicode's composed form (NFC). One keyboard writes
/// `é` as one character and another as two, and both mean the same address.
package enum EmailForm {
  /// - Parameter email: at most `Limits.emailBytes` long, because composing a longer text can be slow.
  package static func compared(_ email: String) -> String {
    email.lowercased().precomposedStringWithCanonicalMapping
  }
}
