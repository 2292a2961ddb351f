import ArgumentParser
import Foundation

/// The address of a running server and the service token with which a tool uses it.
enum ServerAccess {
  /// - Parameter server: the value of the option `--server`.
  static func url(_ server: String) throws -> URL {
    guard let url = URL(string: server), let scheme = url.scheme, ["http", "https"].contains(scheme.lowercased()),
      url.host != nil
    else { throw ValidationError("--server \(server) is not an http or https URL.") }
    return url
  }

  static func token(inFile file: String) throws -> String {
    let text: String
    do {
      text = try String(contentsOfFile: file, encoding: .utf8)
    } catch {
      throw ToolError(
        "the token file \(file) cannot be read", because: error.localizedDescription,
        next: "the server writes it to admin-token in its data directory when it first starts")
    }
    let token = text.trimmingCharacters(in: .whitespacesAndNewlines)
    let isOneWord = !token.isEmpty && token.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f }
    guard isOneWord else { throw ToolError("the token file \(file) contains no token") }
    return token
  }
}
