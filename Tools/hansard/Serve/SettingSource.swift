import Configuration
import Foundation

/// One source of settings: the command line, the environment or a file.
struct SettingSource: Sendable {
  enum Origin: Sendable, Hashable {
    case commandLine
    case environment
    case file(path: String)
  }

  /// The prefix of the environment variables.
  static let environmentPrefix = "HANSARD_"

  let origin: Origin
  private let snapshot: any ConfigSnapshot
  /// The keys in this source. Known only for a file, because the environment also contains variables of other programs.
  let keys: [[String]]
  /// The variables of the environment that are not empty.
  let variables: [String: String]

  private init(
    _ origin: Origin, _ snapshot: any ConfigSnapshot, keys: [[String]] = [], variables: [String: String] = [:]
  ) {
    self.origin = origin
    self.snapshot = snapshot
    self.keys = keys
    self.variables = variables
  }

  /// The values from the command line, by setting key.
  static func commandLine(_ values: [String: ConfigContent]) -> SettingSource {
    let entries = values.map { (AbsoluteConfigKey(ConfigKey($0.key)), ConfigValue($0.value, isSecret: false)) }
    return SettingSource(
      .commandLine, InMemoryProvider(values: Dictionary(uniqueKeysWithValues: entries)).snapshot())
  }

  /// A variable's name is `HANSARD_` and the words of the key in capitals: `rateLimits.user` is
  /// `HANSARD_RATE_LIMITS_USER`. An empty variable is ignored.
  static func environment(_ variables: [String: String]) -> SettingSource {
    let given = variables.filter { !$0.value.isEmpty }
    let own = given.filter { $0.key.hasPrefix(environmentPrefix) }
    let provider = EnvironmentVariablesProvider(environmentVariables: own).prefixKeys(with: "hansard")
    return SettingSource(.environment, provider.snapshot(), variables: given)
  }

  /// A JSON object. Objects in it are groups of settings.
  static func file(_ path: String) throws(ToolError) -> SettingSource {
    guard let content = FileManager.default.contents(atPath: path) else {
      throw ToolError(
        "the settings cannot be read", because: "the file \(path) does not exist or cannot be read",
        next: "name a JSON file with --config, or omit the option")
    }
    return try file(path, content)
  }

  static func file(_ path: String, _ content: Data) throws(ToolError) -> SettingSource {
    do {
      let object = try JSONSerialization.jsonObject(with: content)
      guard let groups = object as? [String: Any] else {
        throw ToolError("the settings in \(path) cannot be used", because: "the file is not a JSON object")
      }
      let snapshot = try JSONSnapshot(data: Array(content).span.bytes, providerName: path, parsingOptions: .default)
      return SettingSource(.file(path: path), snapshot, keys: keys(in: groups))
    } catch let error as ToolError {
      throw error
    } catch {
      let reason = (error as NSError).userInfo["NSDebugDescription"] as? String ?? String(describing: error)
      throw ToolError("the settings in \(path) cannot be used", because: reason, next: "correct the JSON")
    }
  }

  /// The paths to all values that are not objects, and to empty objects.
  private static func keys(in group: [String: Any]) -> [[String]] {
    group.sorted { $0.key < $1.key }.flatMap { name, value -> [[String]] in
      guard let inner = value as? [String: Any], !inner.isEmpty else { return [[name]] }
      return keys(in: inner).map { [name] + $0 }
    }
  }

  /// - Returns: The value, or nil if this source does not have the setting.
  /// - Throws: An error if the value has another type.
  func value(_ key: String, _ type: ConfigType) throws -> ConfigContent? {
    try snapshot.value(forKey: AbsoluteConfigKey(ConfigKey(key)), type: type).value?.content
  }

  /// The name of the setting in this source, as an operator would search for it.
  func name(of setting: Setting) -> String {
    switch origin {
    case .commandLine: setting.option ?? setting.key
    case .environment: setting.environmentName
    case .file(let path): "\(setting.key) in \(path)"
    }
  }
}
