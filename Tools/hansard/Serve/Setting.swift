import Configuration

/// A setting as it is described to operators.
struct Setting: Sendable, Hashable {
  /// With a point between a group and what is in it, such as `push.webhook`.
  let key: String
  /// The option of `hansard serve` that says the same, where there is one.
  let option: String?
  /// What holds when nobody says otherwise, as it would be written in the file; empty when nothing does.
  let defaultValue: String
  /// With its unit.
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
