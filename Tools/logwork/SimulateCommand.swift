import ArgumentParser
import Dispatch
import EventLogSimulation
import Foundation

/// Runs the log on simulated disks that lose power, fail or report false success.
struct SimulateCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "simulate", abstract: "Run the log on hostile simulated disks, one seed after the other.",
    discussion: """
      Each point is one run: a log, several lives of its process, and power cuts, faults or damage in between. What \
      must hold afterwards is in docs/reliability.md. A failing seed is printed and can be replayed.
      """)

  @Option(help: "How many runs.")
  var points = 20_000

  @Option(help: "The first seed; the others follow.")
  var seed: UInt64 = 1

  @Option(help: "Threads; by default one for each processor.")
  var threads = ProcessInfo.processInfo.activeProcessorCount

  /// With fewer runs than this, some kinds of faults may not occur by chance.
  private static let pointsForFullCoverage = 5_000

  func validate() throws {
    guard points >= 1, threads >= 1 else { throw ValidationError("points and threads are at least 1") }
  }

  func run() throws {
    let started = ContinuousClock.now
    let sweep = SimulationSweep(firstSeed: seed, points: points)
    let progress = SweepProgress(sweep, total: points, started: started)
    let outcome: SimulationOutcome
    do {
      outcome = try sweep.run(threads: threads)
    } catch {
      progress.end()
      FileHandle.standardError.write(Data("FAILED: \(error)\n".utf8))
      throw ExitCode.failure
    }
    progress.end()
    report(outcome, seconds: (ContinuousClock.now - started) / .seconds(1))
    let missing = outcome.unexercised
    if points >= Self.pointsForFullCoverage, !missing.isEmpty {
      FileHandle.standardError.write(Data("FAILED: never exercised: \(missing.joined(separator: ", "))\n".utf8))
      throw ExitCode.failure
    }
  }

  private func report(_ outcome: SimulationOutcome, seconds: Double) {
    for row in outcome.rows {
      let gap = String(repeating: " ", count: max(1, 40 - row.name.count))
      print(row.name + gap + String(row.count))
    }
    let rate = Double(points) / max(seconds, 0.001)
    print(
      "seeds \(seed) to \(seed &+ UInt64(points - 1)): no broken guarantee in "
        + String(format: "%.1f s, %.0f points/s on %d threads", seconds, rate, threads))
  }
}
