import Logging

/// How the server's log names metadata, in each format.
enum LoggedName {
  /// Hummingbird's name for the ID of a request, and that of the contract.
  private static let otherNames = ["hb.request.id": "requestId"]

  static func of(_ key: String) -> String { otherNames[key] ?? key }

  static func renamed(_ metadata: Logger.Metadata) -> Logger.Metadata {
    Logger.Metadata(metadata.map { (of($0.key), $0.value) }, uniquingKeysWith: { _, last in last })
  }
}
