import ArgumentParser
import Configuration
import Foundation

/// The options of `hansard serve` that are settings. `hansard doctor` takes the same.
struct ServeOptions: ParsableArguments {
  @Option(help: ArgumentHelp("The settings file (JSON); `hansard settings` lists all settings.", valueName: "file"))
  var config: String?

  @Option(help: "The data directory.")
  var data: String?

  @Option(help: "The address to listen on, HOST:PORT. Port 0 selects a free port.")
  var listen: String?

  @Option(help: "The lifetime of an access token, in seconds.")
  var accessTokenLifetime: Int?

  @Option(help: "The form of invite links; {token} is replaced by the invite's token.")
  var deepLink: String?

  @OptionGroup(title: "Push options") var push: PushOptions

  /// Where the settings come from: the options, the environment, and the file if one is named.
  func sources() throws(ToolError) -> [SettingSource] {
    var sources: [SettingSource] = [.commandLine(values), .environment(ProcessInfo.processInfo.environment)]
    if let config { sources.append(try .file(config)) }
    return sources
  }

  /// The values from the command line, by setting key.
  private var values: [String: ConfigContent] {
    let own: [String: ConfigContent?] = [
      "data": data.map { .string($0) }, "listen": listen.map { .string($0) },
      "accessTokenLifetime": accessTokenLifetime.map { .int($0) }, "deepLink": deepLink.map { .string($0) },
    ]
    return own.merging(push.values) { first, _ in first }.compactMapValues { $0 }
  }
}
