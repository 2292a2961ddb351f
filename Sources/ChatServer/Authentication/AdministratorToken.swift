package import ChatPrimitives
package import ChatService
import Foundation

/// The token that the operator's own services authenticate with. It is derived from the key file, so it can be written
/// again at any time.
package struct AdministratorToken: Sendable {
  /// The name of the token file in the data directory.
  package static let fileName = "admin-token"
  /// Distinguishes service tokens from access tokens in logs and in secret scanners.
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

  /// Writes the token to a file that only its owner can read. Does nothing if the file already has this token.
  package func write(to directory: String) throws {
    let path = directory + "/" + Self.fileName
    if let present = try? String(contentsOfFile: path, encoding: .utf8), present == token + "\n" { return }
    try PrivateFile.write(token + "\n", to: path)
  }
}
