import ChatProjections
import ChatPush
import EventLog

/// What `hansard --version` prints: the version, the commit, and the formats that this executable reads and writes.
enum Version {
  /// The version that docs/CHANGELOG.md describes.
  static let number = "0.1.0"

  static var text: String {
    let views = (Projections.all + [PushProjection.self]).map { "\($0.name) \($0.schemaVersion)" }
    return """
      hansard \(number)
      commit      \(BuiltCommit.text)
      log format  \(LogFormat.version)
      views       \(views.joined(separator: ", "))
      """
  }
}
