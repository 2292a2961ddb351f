/// Counts what runs of the simulation have exercised. A fault that never occurred proves nothing, so most counters must
/// not be zero after a long run.
package struct SimulationOutcome: Sendable, Hashable {
  package var points = 0
  package var appends = 0
  package var records = 0
  package var reopenings = 0
  package var sealedSegments = 0
  package var failedSealings = 0
  package var rewrittenSegments = 0
  package var failedErasures = 0
  package var powerCuts = 0
  package var kills = 0
  /// Power cuts while the log was recovering from an earlier crash.
  package var cutsDuringRecovery = 0
  package var tornTails = 0
  /// Blocks that were never acknowledged but were recovered whole.
  package var unacknowledgedKept = 0
  package var poisonings = 0
  package var failedOpenings = 0
  package var failedReads = 0
  package var interrupted = 0
  package var inputOutput = 0
  package var fullDisk = 0
  package var shortWrites = 0
  package var lostSyncs = 0
  package var misdirected = 0
  package var bitFlips = 0
  package var damagedSectors = 0
  package var otherHistories = 0
  package var refusedOnOpening = 0
  package var refusedOnReading = 0
  package var refusedByVerify = 0
  /// Damage to the last block while nothing on the disk proved that it had been acknowledged (decision 0003).
  package var undecidable = 0
  package var harmless = 0

  package init() {}

  /// One counter with its description.
  package struct Row: Sendable, Hashable {
    package var name: String
    package var count: Int
  }

  /// All counters in display order.
  package var rows: [Row] {
    Self.counters.map { Row(name: $0.name, count: self[keyPath: $0.path]) }
  }

  /// The names of the counters that are zero.
  package var unexercised: [String] { rows.filter { $0.count == 0 }.map(\.name) }

  package mutating func add(_ other: SimulationOutcome) {
    for counter in Self.counters { self[keyPath: counter.path] += other[keyPath: counter.path] }
  }

  mutating func add(_ faults: DiskFaultCounts) {
    interrupted += faults.interrupted
    inputOutput += faults.inputOutput
    fullDisk += faults.fullDisk
    shortWrites += faults.shortWrites
    lostSyncs += faults.lostSyncs
    misdirected += faults.misdirected
  }

  private static var counters: [(name: String, path: WritableKeyPath<SimulationOutcome, Int>)] {
    [
      ("points", \.points), ("blocks appended", \.appends), ("records appended", \.records),
      ("logs opened again", \.reopenings),
      ("segments sealed", \.sealedSegments), ("sealings that failed", \.failedSealings),
      ("segments rewritten by erasures", \.rewrittenSegments), ("erasures that failed", \.failedErasures),
      ("power cuts", \.powerCuts),
      ("processes killed", \.kills),
      ("power cuts during recovery", \.cutsDuringRecovery), ("torn tails cut", \.tornTails),
      ("unacknowledged blocks kept whole", \.unacknowledgedKept), ("logs poisoned", \.poisonings),
      ("openings that failed", \.failedOpenings), ("reads that failed", \.failedReads),
      ("calls interrupted", \.interrupted), ("calls failed with EIO", \.inputOutput),
      ("calls failed with ENOSPC", \.fullDisk), ("short writes", \.shortWrites),
      ("failed syncs that lost pages", \.lostSyncs), ("misdirected writes", \.misdirected),
      ("bits flipped", \.bitFlips), ("sectors damaged", \.damagedSectors),
      ("blocks of another history", \.otherHistories), ("damage refused on opening", \.refusedOnOpening),
      ("damage refused on reading", \.refusedOnReading), ("damage found by verify", \.refusedByVerify),
      ("damage that hid the last block", \.undecidable), ("damage without effect", \.harmless),
    ]
  }
}

/// A broken guarantee, and the data for reproducing it.
package struct SimulationFailure: Error, Sendable, Hashable {
  package var seed: UInt64
  /// The number of the life of the process, from 1.
  package var life: Int
  /// The number of the step in the run, from 1.
  package var step: Int
  /// The action during which it occurred.
  package var action: String
  package var reason: String
}

extension SimulationFailure: CustomStringConvertible {
  package var description: String {
    """
    seed \(seed), life \(life), step \(step), \(action): \(reason)
    replay it with: Tools/simulate --points 1 --seed \(seed)
    """
  }
}
