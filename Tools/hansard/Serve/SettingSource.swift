import Configuration
import Foundation

/// One of the places where settings stand.
struct SettingSource: Sendable {
  enum Origin: Sendable, Hashable {
    case commandLine
    case environment
    case file(path: String)
  }

  /// What the names of environment variables begin with.
  static let environmentPrefix = "HANSARD_"

  let origin: Origin
  private let snapshot: any ConfigSnapshot
  /// The keys that stand here; only a file tells, since other programs too have variables in the environment.
  let keys: [[String]]

  private init(_ origin: Origin, _ snapshot: any ConfigSnapshot, keys: [[String]] = []) {
    self.origin = origin
    self.snapshot = snapshot
    self.keys = keys
  }

  /// What the command line says, by key.
  static func commandLine(_ values: [String: ConfigContent]) -> SettingSource {
    let entries = values.map { (AbsoluteConfigKey(ConfigKey($0.key)), ConfigValue($0.value, isSecret: false)) }
    return SettingSource(
      .commandLine, InMemoryProvider(values: Dictionary(uniqueKeysWithValues: entries)).snapshot())
  }

  /// A key's variable is `HANSARD_` and its words, in capitals: `rateLimits.user` is `HANSARD_RATE_LIMITS_USER`. An
  /// empty variable is none.
  static func environment(_ variables: [String: String]) -> SettingSource {
    let own = variables.filter { $0.key.hasPrefix(environmentPrefix) && !$0.value.isEmpty }
    let provider = EnvironmentVariablesProvider(environmentVariables: own).prefixKeys(with: "hansard")
    return SettingSource(.environment, provider.snapshot())
  }

  /// A JSON object; objects in it are groups of settings.
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

  /// The paths to everything that is no object, and to empty objects.
  private static func keys(in group: [String: Any]) -> [[String]] {
    group.sorted { $0.key < $1.key }.flatMap { name, value -> [[String]] in
      guard let inner = value as? [String: Any], !inner.isEmpty else { return [[name]] }
      return keys(in: inner).map { [name] + $0 }
    }
  }

  /// - Returns: nil when the setting is not in this source.
  /// - Throws: when its value is of another type.
  func value(_ key: String, _ type: ConfigType) throws -> ConfigContent? {
    try snapshot.value(forKey: AbsoluteConfigKey(ConfigKey(key)), type: type).value?.content
  }

  /// The setting's name in this place, as an operator would look for it.
  func name(of setting: Setting) -> String {
    switch origin {
    case .commandLine: setting.option ?? setting.key
    case .environment: setting.environmentName
    case .file(let path): "\(setting.key) in \(path)"
    }
  }
}
