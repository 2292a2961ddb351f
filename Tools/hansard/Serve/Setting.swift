import Configuration

/// The documentation of one setting.
struct Setting: Sendable, Hashable {
  /// The key, with a dot between the group and the name, such as `push.webhook`.
  let key: String
  /// The equivalent option of `hansard serve`, if there is one.
  let option: String?
  /// The default, as it would be written in the file. Empty if there is none.
  let defaultValue: String
  /// What the setting means, with its unit.
  let meaning: String

  /// The environment variable.
  var environmentName: String {
    let lookup = try? EnvironmentVariablesProvider(environmentVariables: [:]).prefixKeys(with: "hansard")
      .value(forKey: AbsoluteConfigKey(ConfigKey(key)), type: .string)
    return lookup?.encodedKey ?? key
  }

  /// A row of the table in `docs/settings.md`.
  var row: String {
    let cells = ["`\(key)`", "`\(environmentName)`", option.map { "`\($0)`" } ?? "", code(defaultValue), meaning]
    return "| " + cells.joined(separator: " | ") + " |"
  }

  private func code(_ text: String) -> String { text.isEmpty ? "" : "`\(text)`" }
}
