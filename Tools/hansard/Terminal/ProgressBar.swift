import Synchronization

/// Shows progress on one line of the terminal, which is overwritten. Draws nothing if standard error is not a terminal.
final class ProgressBar: Sendable {
  /// The minimum time between two updates: at most ten per second.
  private static let interval: Duration = .milliseconds(100)
  /// The width in columns if the terminal does not report one.
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

  /// - Parameter total: The amount of work, or nil if it is not known.
  init(_ label: String, total: UInt64?, unit: ProgressLine.Unit) {
    self.label = label
    self.total = total
    self.unit = unit
    isShown = Terminal.isTerminal(Terminal.standardError)
    started = .now
  }

  /// The time since the bar was created.
  var seconds: Double { (ContinuousClock.now - started) / .seconds(1) }

  /// - Parameters:
  ///   - total: Replaces the total of the initializer, if it became known only later.
  ///   - note: A text that replaces the rate.
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
