import ChatPrimitives
import EventLog
import Synchronization

/// One run: a log on a faulty disk, through several lives of its process. The seed determines everything, so a failed
/// run can be repeated.
///
/// `docs/reliability.md` describes the checks.
package final class CrashSimulation {
  static let directory = "/data"
  static let logDirectory = "/data/log"

  /// The kind of faults in a run.
  enum Scenario {
    case powerCuts
    case faults
    case damageAtRest
    case misdirectedWrite
    case otherHistory
  }

  let seed: UInt64
  let options: LogOptions
  var random: SeededRandom
  var disk: SimulatedDisk
  var model = LogModel()
  var log: EmbeddedLog?
  var reader: LogReader?
  /// The blocks that were read in this life, as targets for damage.
  var seen: [Block] = []
  /// Whether durable data may be damaged, so that an error is an acceptable result.
  var mayBeDamaged = false
  /// False if the disk misdirects writes during the run. The result of opening is then checked only once, at the end.
  var mayReopen = true
  /// The disk before an opening that was not completed.
  var beforeOpening: SimulatedDisk?
  var outcome = SimulationOutcome()
  private(set) var life = 0
  private(set) var step = 0
  private var action: StaticString = "start"

  private init(seed: UInt64) {
    self.seed = seed
    var random = SeededRandom(seed: seed)
    disk = SimulatedDisk(seed: random.next())
    let bits = Mutex(SeededRandom(seed: random.next()))
    let time = Atomic<Int64>(LogModel.time(1).milliseconds)
    let drawn = SharedSource(bits: consume bits, time: consume time)
    options = LogOptions(
      segmentBytes: random.within(LogFormat.minimumSegmentBytes...16 * 1024), preparesAhead: false,
      sealsInBackground: false, now: { drawn.now() }, random: { drawn.next() })
    self.random = random
  }

  /// Runs one seed.
  /// - Throws: the first broken guarantee.
  package static func run(seed: UInt64) throws(SimulationFailure) -> SimulationOutcome {
    let simulation = CrashSimulation(seed: seed)
    try simulation.run()
    return simulation.outcome
  }

  private func run() throws(SimulationFailure) {
    outcome.points = 1
    switch drawScenario() {
    case .powerCuts: try runPowerCuts()
    case .faults: try runFaults()
    case .damageAtRest: try runDamageAtRest()
    case .misdirectedWrite: try runMisdirectedWrite()
    case .otherHistory: try runOtherHistory()
    }
    outcome.add(disk.faults)
  }

  private func drawScenario() -> Scenario {
    switch random.below(100) {
    case 0..<60: .powerCuts
    case 60..<80: .faults
    case 80..<90: .damageAtRest
    case 90..<97: .misdirectedWrite
    default: .otherHistory
    }
  }

  private func runPowerCuts() throws(SimulationFailure) {
    for number in 1...random.within(1...3) {
      // A cut soon after the last one happens while the log recovers from it.
      let isSoon = number > 1 && random.isOne(in: 2)
      // Creating a log takes about a dozen changes, an append two or more.
      disk.plan(.powerCut, at: random.within(1...(isSoon ? 8 : 60)), of: .changes)
      _ = try live()
      try endLife()
    }
    try finish()
  }

  // MARK: Lives

  /// Opens the log and performs random steps.
  /// - Returns: false if a fault ended it.
  func live() throws(SimulationFailure) -> Bool {
    life += 1
    disk.plan(.interrupted, every: 40, of: .all)
    guard try open() else { return false }
    for _ in 0..<random.within(3...14) {
      guard try performStep() else { return false }
    }
    return true
  }

  /// Ends a life: by a power cut, a kill or a regular end.
  func endLife() throws(SimulationFailure) {
    if !disk.isDown, random.isOne(in: 4), let log {
      // The result is irrelevant: if the close fails, it poisoned the log or the log was already poisoned.
      try? log.close()
    }
    log = nil
    reader = nil
    defer { beforeOpening = nil }
    outcome.add(disk.faults)
    if disk.isDown || random.isOne(in: 2) {
      outcome.powerCuts += 1
      disk = disk.afterPowerCut()
      if let beforeOpening { try checkSavedBeforeCut(beforeOpening) }
    } else {
      outcome.kills += 1
      disk = disk.afterKill()
    }
  }

  /// The last life: without faults, and with all checks.
  func finish() throws(SimulationFailure) {
    life += 1
    try readWithoutServer()
    guard try open() else { throw failure("the log does not open on a sound disk") }
    for _ in 0..<random.within(1...2) {
      guard try append() else { throw failure("the log does not take a block on a sound disk") }
    }
    guard try attempt("close", { () throws(LogError) in try log?.close() }) else {
      throw failure("the log does not close on a sound disk")
    }
    log = nil
    try verifyAll()
  }

  // MARK: Steps

  /// Performs one action.
  /// - Returns: false if a planned fault made it fail with the error of such a fault.
  func attempt(_ name: StaticString, _ body: () throws(LogError) -> Void) throws(SimulationFailure) -> Bool {
    action = name
    step += 1
    let before = disk.faults.noticeable
    do throws(LogError) {
      try body()
      return true
    } catch {
      if mayBeDamaged || disk.faults.misdirected > 0, error.code == .corrupt {
        guard error.location != nil else { throw failure("no location: \(error)") }
        return false
      }
      guard disk.faults.noticeable > before, error.code == .io || error.code == .fullDisk else {
        throw failure(error.description)
      }
      return false
    }
  }

  func failure(_ reason: String) -> SimulationFailure {
    SimulationFailure(seed: seed, life: life, step: step, action: "\(action)", reason: reason)
  }
}

/// The clock and the random bits of a log, determined by the seed.
private final class SharedSource: Sendable {
  private let bits: Mutex<SeededRandom>
  private let time: Atomic<Int64>

  init(bits: consuming Mutex<SeededRandom>, time: consuming Atomic<Int64>) {
    self.bits = bits
    self.time = time
  }

  func next() -> UInt64 { bits.withLock { $0.next() } }

  func now() -> Timestamp { Timestamp(milliseconds: time.add(1, ordering: .relaxed).newValue) }
}
