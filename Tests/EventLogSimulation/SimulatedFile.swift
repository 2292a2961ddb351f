import EventLog
private import Glibc
import Synchronization

/// An open file of a simulated disk. It refers to the inode, even if the name changes.
final class SimulatedFile: DiskFile {
  private let inode: Int
  private let path: String
  private let disk: SimulatedDisk
  private let hasLock = Mutex(false)

  init(inode: Int, path: String, disk: SimulatedDisk) {
    self.inode = inode
    self.path = path
    self.disk = disk
  }

  deinit {
    if hasLock.withLock({ $0 }) { disk.unlock(inode) }
  }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(DiskError) -> Int {
    try disk.change { (state) throws(DiskError) in
      let fault = try state.begin(.read, "pread", path, at: offset)
      if fault == .powerCut { throw state.powerLost("pread", path) }
      let count = state.inodes[inode].live.read(into: buffer, at: try intOffset(offset))
      state.bytesRead += count
      return count
    }
  }

  func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(DiskError) -> Int {
    try disk.change { (state) throws(DiskError) in
      state.writes += 1
      let position = try intOffset(offset)
      switch try state.begin(.write, "pwrite", path, at: offset) {
      case .shortWrite(let length):
        let count = min(length ?? state.random.below(bytes.count), bytes.count)
        state.inodes[inode].write(UnsafeRawBufferPointer(rebasing: bytes[..<count]), at: position)
        return count
      case .misdirects:
        state.misdirect([UInt8](bytes), from: inode, at: position)
        return bytes.count
      case .powerCut:
        state.inodes[inode].write(bytes, at: position)
        throw state.powerLost("pwrite", path)
      case .fails, .losesSync, nil:
        state.inodes[inode].write(bytes, at: position)
        return bytes.count
      }
    }
  }

  func sync() throws(DiskError) {
    disk.gate.withLock { $0 }?.pass()
    try disk.change { (state) throws(DiskError) in
      state.syncs += 1
      switch try state.begin(.sync, "fdatasync", path) {
      case .losesSync(let number):
        state.loseSync(of: inode)
        throw DiskError(operation: "fdatasync", path: path, number: number)
      case .powerCut: throw state.powerLost("fdatasync", path)
      case .fails, .shortWrite, .misdirects, nil: state.inodes[inode].sync()
      }
    }
  }

  func size() throws(DiskError) -> UInt64 {
    try disk.change { (state) throws(DiskError) in
      if try state.begin(.size, "fstat", path) == .powerCut { throw state.powerLost("fstat", path) }
      return UInt64(state.inodes[inode].live.count)
    }
  }

  func isNamed(by path: String) throws(DiskError) -> Bool {
    try disk.change { (state) throws(DiskError) in
      if try state.begin(.size, "stat", path) == .powerCut { throw state.powerLost("stat", path) }
      return state.inode(path) == inode
    }
  }

  func tryLock() throws(DiskError) -> Bool {
    let taken: Bool = try disk.change { (state) throws(DiskError) in
      if try state.begin(.lock, "flock", path) == .powerCut { throw state.powerLost("flock", path) }
      defer { state.inodes[inode].isLocked = true }
      return !state.inodes[inode].isLocked
    }
    if taken { hasLock.withLock { $0 = true } }
    return taken
  }

  private func intOffset(_ offset: UInt64) throws(DiskError) -> Int {
    guard let position = Int(exactly: offset) else {
      throw DiskError(operation: "seek", path: path, offset: offset, number: EOVERFLOW)
    }
    return position
  }
}

extension SimulatedDiskState {
  /// Writes to the wrong place: to another multiple of 512 of the file, or to another file. The file that it hits does
  /// not become longer.
  mutating func misdirect(_ bytes: [UInt8], from inode: Int, at position: Int) {
    var victim = inode
    if random.isOne(in: 3) {
      let named = directories.values.flatMap(\.live.values).filter { inodes[$0].live.count > 0 }.sorted()
      if !named.isEmpty { victim = named[random.below(named.count)] }
    }
    let sectors = inodes[victim].live.count / SimulatedInode.sectorBytes
    let shift = position % SimulatedInode.sectorBytes
    var target = random.below(sectors) * SimulatedInode.sectorBytes + shift
    if victim == inode, target == position {
      target = target >= SimulatedInode.sectorBytes ? target - SimulatedInode.sectorBytes : inodes[victim].live.count
    }
    inodes[victim].damage(bytes, at: target)
  }

  mutating func loseSync(of inode: Int) {
    inodes[inode].loseSync(&random)
  }
}
