import EventLog
private import Glibc

/// The state of a simulated disk. It is a value, so that a disk can be copied.
struct SimulatedDiskState: Sendable {
  var inodes: [SimulatedInode] = []
  var directories: [String: SimulatedDirectory] = [:]
  var random: SeededRandom
  var plan: [PlannedFault] = []
  var faults = DiskFaultCounts()
  /// Whether the power has failed.
  var isDown = false
  var bytesRead = 0
  /// The number of calls that change something or make it durable.
  var changes = 0
  var writes = 0
  var syncs = 0

  init(seed: UInt64) {
    random = SeededRandom(seed: seed)
  }

  /// The common start of every call.
  /// - Returns: the fault that the call itself must carry out.
  mutating func begin(
    _ call: DiskCalls, _ operation: String, _ path: String, at offset: UInt64? = nil
  ) throws(DiskError) -> DiskFault? {
    if DiskCalls.changes.contains(call) { changes += 1 }
    if isDown { throw DiskError(operation: operation, path: path, offset: offset, number: EIO) }
    var due: DiskFault?
    for number in plan.indices where plan[number].isDue(call, &random) { due = due ?? plan[number].fault }
    guard let due else { return nil }
    switch due {
    case .misdirects where call != .write: return nil
    case .fails(let error):
      faults.count(due)
      throw DiskError(operation: operation, path: path, offset: offset, number: error)
    case .losesSync(let error) where call != .sync:
      faults.count(due)
      throw DiskError(operation: operation, path: path, offset: offset, number: error)
    case .shortWrite where call != .write:
      faults.count(.inputOutput)
      throw DiskError(operation: operation, path: path, offset: offset, number: EIO)
    case .shortWrite, .losesSync, .misdirects: break
    case .powerCut: isDown = true
    }
    faults.count(due)
    return due
  }

  /// The error of the call during which the power was cut.
  func powerLost(_ operation: String, _ path: String) -> DiskError {
    DiskError(operation: operation, path: path, number: EIO)
  }

  // MARK: Names

  static func split(_ path: String) -> (directory: String, name: String) {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return (".", path) }
    return (String(path[..<slash]), String(path[path.utf8.index(after: slash)...]))
  }

  func inode(_ path: String) -> Int? {
    let (directory, name) = Self.split(path)
    return directories[directory]?.live[name]
  }

  /// Adds a file that is on the disk already.
  mutating func place(_ bytes: [UInt8], at path: String) {
    let (directory, name) = Self.split(path)
    var names = directories[directory]?.live ?? [:]
    names[name] = inodes.count
    inodes.append(SimulatedInode(bytes))
    directories[directory] = SimulatedDirectory(names)
  }

  // MARK: Restarts

  /// The state after a power cut.
  mutating func afterPowerCut() -> SimulatedDiskState {
    var after = afterKill()
    after.directories = [:]
    // Sorted by name, because a dictionary's own order differs from run to run.
    for (path, directory) in directories.sorted(by: { $0.key < $1.key }) {
      after.directories[path] = directory.afterPowerCut(&random)
    }
    after.inodes = inodes.map { $0.afterPowerCut(&random) }
    after.random = SeededRandom(seed: random.next())
    return after
  }

  /// The state after the process was killed while the machine kept running.
  func afterKill() -> SimulatedDiskState {
    var after = self
    for number in after.inodes.indices { after.inodes[number].isLocked = false }
    after.plan = []
    after.isDown = false
    after.faults = DiskFaultCounts()
    return after
  }
}
