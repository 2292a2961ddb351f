package import ChatPrimitives
package import ChatService
import Foundation

/// The token with which an operator's own services act. Derived from the key file, so that it can be written again.
package struct AdministratorToken: Sendable {
  /// The file's name in the data directory.
  package static let fileName = "admin-token"
  /// Tells service tokens from access tokens at a glance, in logs and in secret scanners.
  static let prefix = "hsa_"

  package let service: ServiceID
  private let token: String

  package init(_ keys: ServerKeys) {
    service = keys.administrator
    token = Self.prefix + Base64URL.encode(keys.authenticationCode(for: "administrator-token", []))
  }

  func matches(_ presented: String) -> Bool {
    Array(presented.utf8).elementsEqualInConstantTime(Array(token.utf8))
  }

  /// Writes the token where the operator finds it, readable by the owner alone. Does nothing when it stands there.
  package func write(to directory: String) throws {
    let path = directory + "/" + Self.fileName
    if let present = try? String(contentsOfFile: path, encoding: .utf8), present == token + "\n" { return }
    try PrivateFile.write(token + "\n", to: path)
  }
}
