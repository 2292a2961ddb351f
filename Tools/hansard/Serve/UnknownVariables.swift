/// Finds misspelt environment variables.
extension SettingReader {
  /// Variables of the scripts and tests of the repository, which may also be in the environment of a server.
  private static let scriptVariables: Set = [
    "HANSARD_BIN", "HANSARD_SLOWNESS", "HANSARD_MEMORY_FACTOR", "HANSARD_SANITIZER_REPORTS", "HANSARD_HOSTILE_ROOMS",
    "HANSARD_HOSTILE_SEEDS",
  ]
  /// The prefix of the variables that tests give to a server.
  private static let testPrefix = "HANSARD_TEST_"

  /// Reports the variables that begin like a setting and are none. Must be called after all settings were read.
  mutating func noteUnknownVariables() {
    let known = settings.map(\.environmentName)
    for source in sources {
      let unknown = source.variables.keys.filter { name in
        name.hasPrefix(SettingSource.environmentPrefix) && !known.contains(name)
          && !Self.scriptVariables.contains(name) && !name.hasPrefix(Self.testPrefix)
      }
      for name in unknown.sorted() {
        let closest = SimilarName.closest(to: name, among: known + [LogSettings.levelVariable])
        record(
          ToolError(
            "unknown setting \(name)", because: "it is in the environment",
            next: (closest.map { "write \($0) if you mean that, or " } ?? "")
              + "unset it; `hansard settings` lists all settings"))
      }
    }
  }
}

/// Guesses which name a misspelt one was meant to be.
enum SimilarName {
  /// A name is similar if at most one character in three differs.
  private static let charactersPerDifference = 3

  /// - Returns: the first of the most similar names; nil if none is similar.
  static func closest(to name: String, among names: [String]) -> String? {
    let wanted = own(name)
    let ranked = names.map { (name: $0, distance: distance(wanted, own($0))) }
    guard let best = ranked.min(by: { $0.distance < $1.distance }) else { return nil }
    return best.distance * charactersPerDifference <= wanted.count ? best.name : nil
  }

  /// The characters without the common prefix.
  private static func own(_ name: String) -> [Character] {
    let prefix = SettingSource.environmentPrefix
    return Array(name.hasPrefix(prefix) ? name.dropFirst(prefix.count) : name[...])
  }

  /// How many characters must be inserted, removed or replaced to turn one name into the other (Levenshtein).
  private static func distance(_ first: [Character], _ second: [Character]) -> Int {
    var row = Array(0...second.count)
    for (line, character) in first.enumerated() {
      var diagonal = row[0]
      row[0] = line + 1
      for (column, other) in second.enumerated() {
        let replaced = diagonal + (character == other ? 0 : 1)
        diagonal = row[column + 1]
        row[column + 1] = min(replaced, row[column] + 1, row[column + 1] + 1)
      }
    }
    return row[second.count]
  }
}
