import Configuration

/// Reads settings and collects all problems with them, so that an operator sees every problem at once.
///
/// A setting is declared by reading it. Only settings that are read here are allowed in the file and listed in
/// `docs/settings.md`. Read every setting each time, whatever the values of the others are.
struct SettingReader {
  /// The first source that has a setting determines its value.
  let sources: [SettingSource]
  /// True if only the declarations are collected. No values are set then.
  private let collectsDeclarationsOnly: Bool
  /// The settings that were read, in this order.
  private(set) var settings: [Setting] = []
  private(set) var problems: [ToolError] = []

  init(_ sources: [SettingSource]) {
    self.sources = sources
    collectsDeclarationsOnly = false
  }

  private init() {
    sources = []
    collectsDeclarationsOnly = true
  }

  /// The settings that `read` reads.
  static func settings(askedForBy read: (inout SettingReader) -> Void) -> [Setting] {
    var reader = SettingReader()
    read(&reader)
    return reader.settings
  }

  // MARK: Values

  mutating func text(
    _ key: String, option: String? = nil, default defaultValue: String? = nil, _ meaning: String
  ) -> String? {
    let setting = note(Setting(key: key, option: option, defaultValue: defaultValue ?? "", meaning: meaning))
    guard case .string(let text)? = value(setting, .string, "a text") else { return defaultValue }
    return text
  }

  /// Reads a text that `parse` checks or converts.
  /// - Parameter form: A description of a valid text, for the error message.
  mutating func text<Value>(
    _ key: String, option: String? = nil, default defaultValue: String, form: String, _ meaning: String,
    parse: (String) -> Value?
  ) -> Value? {
    let found = text(key, option: option, default: defaultValue, meaning) ?? defaultValue
    if let value = parse(found) { return value }
    recordProblem(key, because: "\"\(found)\" is not \(form)", next: "write \(form)")
    return parse(defaultValue)
  }

  mutating func integer(
    _ key: String, option: String? = nil, default defaultValue: Int, in range: ClosedRange<Int>, _ meaning: String
  ) -> Int {
    let setting = note(Setting(key: key, option: option, defaultValue: String(defaultValue), meaning: meaning))
    guard case .int(let number)? = value(setting, .int, "a whole number") else { return defaultValue }
    guard range.contains(number) else {
      recordProblem(
        key, because: "\(number) is not in the range \(range.lowerBound) to \(range.upperBound)",
        next: "write a number in this range")
      return defaultValue
    }
    return number
  }

  mutating func flag(_ key: String, option: String? = nil, default defaultValue: Bool, _ meaning: String) -> Bool {
    let setting = note(Setting(key: key, option: option, defaultValue: String(defaultValue), meaning: meaning))
    guard case .bool(let flag)? = value(setting, .bool, "true or false") else { return defaultValue }
    return flag
  }

  /// Reads a list of texts. In an environment variable, the items are separated by commas.
  mutating func texts(
    _ key: String, option: String? = nil, default defaultValue: [String] = [], _ meaning: String
  ) -> [String] {
    let shown = defaultValue.isEmpty ? "[]" : "[" + defaultValue.map { "\"\($0)\"" }.joined(separator: ", ") + "]"
    let setting = note(Setting(key: key, option: option, defaultValue: shown, meaning: meaning))
    guard case .stringArray(let texts)? = value(setting, .stringArray, "a list of texts") else { return defaultValue }
    return texts
  }

  /// The value of an environment variable that is not a setting. Nil if it is not set, or empty.
  func variable(_ name: String) -> String? { sources.compactMap { $0.variables[name] }.first }

  /// The names that an operator chose for the groups under `key`, in alphabetical order. Only a file can have such
  /// groups. The documentation uses `NAME` for each of them, as in `identity.providers.NAME.issuer`.
  func names(under key: String) -> [String] {
    if collectsDeclarationsOnly { return ["NAME"] }
    let path = key.split(separator: ".").map(String.init)
    let names = sources.flatMap(\.keys).compactMap { found in
      found.count > path.count && found.starts(with: path) ? found[path.count] : nil
    }
    return Set(names).sorted()
  }

  // MARK: Problems

  /// Records that a setting cannot be used.
  mutating func recordProblem(_ key: String, because reason: String, next: String) {
    let name = settings.last { $0.key == key }.flatMap { setting in
      source(of: setting).map { $0.name(of: setting) }
    }
    problems.append(ToolError("the setting \(name ?? key) cannot be used", because: reason, next: next))
  }

  mutating func record(_ problem: ToolError) { problems.append(problem) }

  /// Whether any source has the setting.
  func isSet(_ key: String) -> Bool {
    settings.last { $0.key == key }.flatMap { source(of: $0) } != nil
  }

  /// Reports the keys in a file that are not settings. Must be called after all settings were read.
  mutating func noteUnknownKeys() {
    let known = Set(settings.map(\.key))
    for source in sources {
      guard case .file(let path) = source.origin else { continue }
      for key in source.keys.map({ $0.joined(separator: ".") }) where !known.contains(key) {
        problems.append(
          ToolError(
            "unknown setting \(key)", because: "it is in \(path)",
            next: "correct or remove it; `hansard settings` lists all settings"))
      }
    }
  }

  private mutating func note(_ setting: Setting) -> Setting {
    settings.append(setting)
    return setting
  }

  private mutating func value(_ setting: Setting, _ type: ConfigType, _ form: String) -> ConfigContent? {
    for source in sources {
      do {
        if let value = try source.value(setting.key, type) { return value }
      } catch {
        problems.append(
          ToolError("the setting \(source.name(of: setting)) cannot be used", because: "it is not \(form)"))
        return nil
      }
    }
    return nil
  }

  private func source(of setting: Setting) -> SettingSource? {
    // The type does not matter. If the value has another type, reading throws, which shows that the setting exists.
    sources.first { source in
      do {
        return try source.value(setting.key, .string) != nil
      } catch {
        return true
      }
    }
  }
}
