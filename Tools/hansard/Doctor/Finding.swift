/// The result of one check of `hansard doctor`.
struct Finding: Sendable, Hashable {
  enum Outcome: String, Sendable {
    case ok
    case problem
  }

  let outcome: Outcome
  /// What was checked, in one word.
  let subject: String
  let text: String

  static func ok(_ subject: String, _ text: String) -> Finding {
    Finding(outcome: .ok, subject: subject, text: text)
  }

  /// - Parameters:
  ///   - reason: what is wrong.
  ///   - next: what to do.
  static func problem(_ subject: String, _ reason: String, next: String) -> Finding {
    Finding(outcome: .problem, subject: subject, text: "\(reason). \(next)")
  }

  static func problem(_ subject: String, _ error: any Error) -> Finding {
    let shown = ToolError(error)
    let parts = [shown.what, shown.reason, shown.next].compactMap { $0 }
    return Finding(outcome: .problem, subject: subject, text: parts.joined(separator: ". "))
  }

  /// `ok` if there is no problem.
  static func all(_ problems: [Finding], or ok: Finding) -> [Finding] { problems.isEmpty ? [ok] : problems }

  var line: String {
    TextColumns.visible(Self.padded(outcome.rawValue, 9) + Self.padded(subject, 10) + text)
  }

  private static func padded(_ text: String, _ columns: Int) -> String {
    text + String(repeating: " ", count: max(1, columns - text.count))
  }
}
