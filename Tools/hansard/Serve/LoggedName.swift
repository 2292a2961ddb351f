import Logging

/// How the server's log names metadata, in each format.
enum LoggedName {
  /// Hummingbird's name of the request ID, and its name in the API.
  private static let apiNames = ["hb.request.id": "requestId"]

  static func of(_ key: String) -> String { apiNames[key] ?? key }

  static func renamed(_ metadata: Logger.Metadata) -> Logger.Metadata {
    let sorted = metadata.sorted { $0.key < $1.key }
    return Logger.Metadata(sorted.map { (of($0.key), $0.value) }, uniquingKeysWith: { first, _ in first })
  }
}
