import Synchronization

/// What is done and what is left, on one line of a terminal that is drawn over. Where standard error is no terminal,
/// nothing is drawn at all.
final class ProgressBar: Sendable {
  /// Between two drawings: at most ten a second.
  private static let interval: Duration = .milliseconds(100)
  /// Where the terminal does not tell its width, in columns.
  private static let defaultColumns = 80

  private struct State {
    var drawn: ContinuousClock.Instant?
    var columns = 0
  }

  private let label: String
  private let unit: ProgressLine.Unit
  private let total: UInt64?
  private let isShown: Bool
  private let started: ContinuousClock.Instant
  private let state = Mutex(State())

  /// - Parameter total: how much there is to do; nil when that is not known.
  init(_ label: String, total: UInt64?, unit: ProgressLine.Unit) {
    self.label = label
    self.total = total
    self.unit = unit
    isShown = Terminal.isTerminal(Terminal.standardError)
    started = .now
  }

  /// Since it was made.
  var seconds: Double { (ContinuousClock.now - started) / .seconds(1) }

  /// - Parameters:
  ///   - total: replaces the one given at the beginning, where it is known only now.
  ///   - note: replaces the rate.
  func update(_ done: UInt64, of total: UInt64? = nil, note: String? = nil) {
    guard isShown else { return }
    let line = state.withLock { state -> String? in
      let now = ContinuousClock.now
      if let drawn = state.drawn, now - drawn < Self.interval { return nil }
      state.drawn = now
      let columns = Terminal.columns(of: Terminal.standardError) ?? Self.defaultColumns
      var text = ProgressLine(
        label: label, done: done, total: total ?? self.total, seconds: seconds, unit: unit, note: note
      ).text
      text = TextColumns.shortened(text, to: columns - 1)
      let width = TextColumns.width(of: text)
      text += String(repeating: " ", count: max(0, state.columns - width))
      state.columns = width
      return "\r" + text
    }
    if let line { Terminal.printError(line) }
  }

  /// Clears the line.
  func finish() {
    guard isShown else { return }
    let columns = state.withLock { state in
      defer { state.columns = 0 }
      return state.columns
    }
    if columns > 0 { Terminal.printError("\r" + String(repeating: " ", count: columns) + "\r") }
  }
}
