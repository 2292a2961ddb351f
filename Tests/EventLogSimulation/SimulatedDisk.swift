package import EventLog
private import Glibc
package import Synchronization

/// A disk in memory that is as faulty as real disks are: it loses, reorders and tears unsynced data, fails, interrupts
/// and misdirects calls, and loses syncs. A seed determines its behaviour, as long as only one thread uses it.
///
/// It does not simulate sectors that become unreadable, or directories that are damaged (file systems use journals to
/// prevent that).
package final class SimulatedDisk: Disk {
  private let state: Mutex<SimulatedDiskState>
  /// Set it to make every sync wait.
  package let gate = Mutex<SyncGate?>(nil)

  private init(_ state: SimulatedDiskState) {
    self.state = Mutex(state)
  }

  /// - Parameter files: the files on the disk, by path.
  package convenience init(_ files: [String: [UInt8]] = [:], seed: UInt64 = 0) {
    var state = SimulatedDiskState(seed: seed)
    for (path, bytes) in files.sorted(by: { $0.key < $1.key }) { state.place(bytes, at: path) }
    self.init(state)
  }

  // MARK: Faults and restarts

  /// Plans a fault for the nth of these calls from now on, counted from 1.
  package func plan(_ fault: DiskFault, at call: Int, of calls: DiskCalls) {
    state.withLock { $0.plan.append(PlannedFault(fault: fault, calls: calls, callsLeft: call, meanCalls: nil)) }
  }

  /// Plans a fault that repeats after this many of these calls on average.
  package func plan(_ fault: DiskFault, every meanCalls: Int, of calls: DiskCalls) {
    state.withLock { state in
      let first = state.random.within(1...2 * meanCalls)
      state.plan.append(PlannedFault(fault: fault, calls: calls, callsLeft: first, meanCalls: meanCalls))
    }
  }

  package func forgetPlans() { state.withLock { $0.plan = [] } }

  /// The disk after a power cut at this moment, without locks. This disk stays unchanged for those who still use it.
  package func afterPowerCut() -> SimulatedDisk { SimulatedDisk(state.withLock { $0.afterPowerCut() }) }

  /// The disk as another process finds it if this one is killed now: everything written, synced or not, and no locks.
  package func afterKill() -> SimulatedDisk { SimulatedDisk(state.withLock { $0.afterKill() }) }

  /// Overwrites stored bytes, within the file's length.
  package func damage(_ path: String, at offset: Int, with bytes: [UInt8]) {
    state.withLock { state in
      if let inode = state.inode(path) { state.inodes[inode].damage(bytes, at: offset) }
    }
  }

  // MARK: Inspection

  /// All files as a process sees them now.
  package var files: [String: [UInt8]] {
    state.withLock { state in
      var files: [String: [UInt8]] = [:]
      for (path, directory) in state.directories {
        for (name, inode) in directory.live { files[path + "/" + name] = state.inodes[inode].live.all }
      }
      return files
    }
  }

  /// One file as a process sees it now; nil if it does not exist.
  package func bytes(_ path: String) -> [UInt8]? {
    state.withLock { state in state.inode(path).map { state.inodes[$0].live.all } }
  }

  /// One file as it is on the disk under that name; nil if it does not exist.
  package func durableBytes(_ path: String) -> [UInt8]? {
    let (directory, name) = SimulatedDiskState.split(path)
    return state.withLock { state in
      state.directories[directory]?.durable[name].map { state.inodes[$0].durable.all }
    }
  }

  /// Whether the disk holds only zeros in a file from an offset on.
  package func isZeroOnDisk(_ path: String, from offset: Int) -> Bool {
    let (directory, name) = SimulatedDiskState.split(path)
    return state.withLock { state in
      guard let inode = state.directories[directory]?.durable[name] else { return false }
      let image = state.inodes[inode].durable
      return image.bytes(min(offset, image.count)..<image.count).withUnsafeBytes { $0.isZero }
    }
  }

  /// The paths of the files in a directory, sorted.
  package func paths(in directory: String) -> [String] {
    state.withLock { $0.directories[directory]?.live.keys.map { directory + "/" + $0 } ?? [] }.sorted()
  }

  package var faults: DiskFaultCounts { state.withLock { $0.faults } }
  package var isDown: Bool { state.withLock { $0.isDown } }
  package var bytesRead: Int { state.withLock { $0.bytesRead } }
  /// The number of calls that changed something or made it durable, or tried to.
  package var changes: Int { state.withLock { $0.changes } }
  package var writes: Int { state.withLock { $0.writes } }
  package var syncs: Int { state.withLock { $0.syncs } }

  // MARK: Disk

  package func open(_ path: String, _ mode: DiskOpenMode) throws(DiskError) -> any DiskFile {
    let number: Int = try change { (state) throws(DiskError) in
      _ = try state.begin(.open, "open", path)
      if let found = state.inode(path) {
        if mode == .createNew { throw DiskError(operation: "open", path: path, number: EEXIST) }
        return found
      }
      let (directory, name) = SimulatedDiskState.split(path)
      guard mode == .createNew || mode == .readWriteOrCreate, state.directories[directory] != nil else {
        throw DiskError(operation: "open", path: path, number: ENOENT)
      }
      state.directories[directory]?.create(name, inode: state.inodes.count)
      state.inodes.append(SimulatedInode())
      return state.inodes.count - 1
    }
    return SimulatedFile(inode: number, path: path, disk: self)
  }

  package func list(_ directory: String) throws(DiskError) -> [String]? {
    try change { (state) throws(DiskError) in
      _ = try state.begin(.list, "readdir", directory)
      // The order is the same in every run.
      return state.directories[directory]?.live.keys.sorted()
    }
  }

  package func createDirectory(_ path: String) throws(DiskError) {
    try change { (state) throws(DiskError) in
      let fault = try state.begin(.createDirectory, "mkdir", path)
      if fault == .powerCut, state.random.isOne(in: 2) { throw state.powerLost("mkdir", path) }
      var directory = path
      while !directory.isEmpty, directory != ".", state.directories[directory] == nil {
        state.directories[directory] = SimulatedDirectory()
        directory = SimulatedDiskState.split(directory).directory
      }
      if fault == .powerCut { throw state.powerLost("mkdir", path) }
    }
  }

  package func rename(_ path: String, to target: String) throws(DiskError) {
    try change { (state) throws(DiskError) in
      let fault = try state.begin(.rename, "rename", path)
      let (directory, name) = SimulatedDiskState.split(path)
      let (targetDirectory, targetName) = SimulatedDiskState.split(target)
      guard let inode = state.inode(path) else {
        throw DiskError(operation: "rename", path: path, number: ENOENT)
      }
      guard directory == targetDirectory else { throw DiskError(operation: "rename", path: path, number: EXDEV) }
      state.directories[directory]?.rename(name, to: targetName, inode: inode)
      if fault == .powerCut { throw state.powerLost("rename", path) }
    }
  }

  package func remove(_ path: String) throws(DiskError) {
    try change { (state) throws(DiskError) in
      let fault = try state.begin(.remove, "unlink", path)
      guard state.inode(path) != nil else { throw DiskError(operation: "unlink", path: path, number: ENOENT) }
      let (directory, name) = SimulatedDiskState.split(path)
      state.directories[directory]?.remove(name)
      if fault == .powerCut { throw state.powerLost("unlink", path) }
    }
  }

  package func link(_ path: String, to target: String) throws(DiskError) {
    try change { (state) throws(DiskError) in
      let fault = try state.begin(.link, "link", target)
      guard let inode = state.inode(path) else { throw DiskError(operation: "link", path: path, number: ENOENT) }
      guard state.inode(target) == nil else { throw DiskError(operation: "link", path: target, number: EEXIST) }
      let (directory, name) = SimulatedDiskState.split(target)
      state.directories[directory]?.create(name, inode: inode)
      if fault == .powerCut { throw state.powerLost("link", target) }
    }
  }

  package func syncDirectory(_ path: String) throws(DiskError) {
    try change { (state) throws(DiskError) in
      let fault = try state.begin(.syncDirectory, "fsync", path)
      if fault == .powerCut { throw state.powerLost("fsync", path) }
      guard state.directories[path] != nil else { throw DiskError(operation: "open", path: path, number: ENOENT) }
      state.directories[path]?.sync()
    }
  }

  func unlock(_ inode: Int) {
    state.withLock { $0.inodes[inode].isLocked = false }
  }

  func change<Result>(
    _ body: (inout SimulatedDiskState) throws(DiskError) -> Result
  ) throws(DiskError) -> Result {
    try state.withLock { (state) throws(DiskError) in try body(&state) }
  }
}
