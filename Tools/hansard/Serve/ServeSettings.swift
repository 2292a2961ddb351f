import ChatDomain
import ChatServer
import Foundation
import MediaFiles

/// All settings of the server. No other place reads settings. Command line options override environment variables,
/// which override the file.
struct ServeSettings: Sendable {
  let data: String
  let listen: ListenAddress
  let accessTokenLifetimeSeconds: Int
  let deepLink: DeepLink
  let allowsInvitesWithoutExpiry: Bool
  let push: PushSettings
  let media: MediaStore.Settings
  let storage: StorageSettings
  let identity: IdentityOptions
  let protection: ProtectionSettings
  let quotas: Quotas
  let http: HTTPSettings
  let metrics: MetricsSettings
  let log: LogSettings

  /// The directory of the read models.
  var readModelsDirectory: String { data + "/views" }

  /// A year, in seconds.
  private static let longestTokenLifetime = 31_536_000

  private init(_ reader: inout SettingReader) {
    data =
      reader.text(
        "data", option: "--data", default: DataOption.defaultDirectory,
        "the data directory; created with mode 0700 if it does not exist") ?? DataOption.defaultDirectory
    listen =
      reader.text(
        "listen", option: "--listen", default: ListenAddress.default.description,
        form: "HOST:PORT, such as \(ListenAddress.default)",
        "the address to listen on; port 0 selects a free port", parse: { ListenAddress($0) }) ?? ListenAddress.default
    accessTokenLifetimeSeconds = reader.integer(
      "accessTokenLifetime", option: "--access-token-lifetime", default: TokenIssuer.defaultAccessTokenLifetimeSeconds,
      in: 1...Self.longestTokenLifetime, "lifetime of an access token, in seconds")
    deepLink =
      reader.text(
        "deepLink", option: "--deep-link", default: DeepLink.default.form,
        form: "a link with \(DeepLink.placeholder) in it once, such as \(DeepLink.default.form)",
        "the form of invite links; `{token}` is replaced by the invite's token", parse: { DeepLink($0) }) ?? .default
    allowsInvitesWithoutExpiry = reader.flag(
      "invites.allowNoExpiry", default: false,
      "whether invites can be created that never expire (`\"expiresAt\": null`)")
    push = PushSettings(&reader)
    media = MediaStore.Settings(&reader)
    storage = StorageSettings(&reader)
    identity = IdentityOptions(&reader)
    protection = ProtectionSettings(&reader)
    quotas = Quotas(&reader)
    http = HTTPSettings(&reader)
    metrics = MetricsSettings(&reader)
    log = LogSettings(&reader)
  }

  /// - Throws: The last problem. The ones before it are printed to standard error.
  static func read(_ sources: [SettingSource]) throws(ToolError) -> ServeSettings {
    let (settings, problems) = readAll(sources)
    for problem in problems.dropLast() { Terminal.printError(problem.description + "\n") }
    if let problem = problems.last { throw problem }
    return settings
  }

  /// - Parameter sources: the first one that has a setting determines its value.
  /// - Returns: the settings, with the default in place of each one that has a problem.
  static func readAll(_ sources: [SettingSource]) -> (ServeSettings, problems: [ToolError]) {
    var reader = SettingReader(sources)
    let settings = ServeSettings(&reader)
    reader.noteUnknownKeys()
    reader.noteUnknownVariables()
    return (settings, reader.problems)
  }

  /// All settings, in the order in which they are documented.
  static var all: [Setting] {
    SettingReader.settings { _ = ServeSettings(&$0) }
  }
}
