import Dispatch
import EventLogSimulation
import Foundation

/// Shows the progress of a sweep on one line of the terminal. Draws nothing if standard error is not a terminal.
final class SweepProgress {
  private let timer: (any DispatchSourceTimer)?

  init(_ sweep: SimulationSweep, total: Int, started: ContinuousClock.Instant) {
    guard isatty(STDERR_FILENO) == 1 else {
      timer = nil
      return
    }
    let source = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "logwork.progress"))
    source.schedule(deadline: .now() + .milliseconds(200), repeating: .milliseconds(200))
    source.setEventHandler {
      let seconds = (ContinuousClock.now - started) / .seconds(1)
      Self.draw(Self.line(done: sweep.pointsDone, total: total, seconds: seconds))
    }
    source.resume()
    timer = source
  }

  /// Removes the line.
  func end() {
    guard let timer else { return }
    timer.cancel()
    Self.draw("")
  }

  static func line(done: Int, total: Int, seconds: Double) -> String {
    let share = Double(done) / Double(max(1, total))
    let full = Int(min(1, share) * 24)
    let bar = String(repeating: "#", count: full) + String(repeating: ".", count: 24 - full)
    let rate = Double(done) / max(0.001, seconds)
    var line = "[\(bar)] \(Int(share * 100)) %  \(done) of \(total) points  \(Int(rate))/s"
    if done > 0, done < total { line += "  \(Int((Double(total - done) / rate).rounded(.up))) s left" }
    return line
  }

  private static func draw(_ line: String) {
    // Carriage return, then the line, then erase to its end (ECMA-48, EL).
    FileHandle.standardError.write(Data("\r\(line)\u{1b}[K".utf8))
  }
}
