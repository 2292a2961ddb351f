import EventLog
import Foundation

/// The real disk, whose syncs can be held or made to fail.
///
/// Unchecked: all mutable state is accessed only while `condition` is locked.
final class HeldDisk: Disk, @unchecked Sendable {
  private let disk = PosixDisk()
  private let condition = NSCondition()
  private var isHeld = false
  private var failsFromNow = false
  private var waiting = 0
  private var passes = 0

  /// From now on, syncs do not return before `release`.
  func hold() { condition.withLock { isHeld = true } }

  func release() {
    condition.withLock {
      isHeld = false
      condition.broadcast()
    }
  }

  /// Releases the sync that is held, and holds the next one.
  func passOne() {
    condition.withLock {
      passes += 1
      condition.broadcast()
      while passes > 0 { condition.wait() }
    }
  }

  func failSyncs() { condition.withLock { failsFromNow = true } }

  /// Returns when a sync is being held.
  func waitForHeldSync() {
    condition.withLock { while waiting == 0 { condition.wait() } }
  }

  fileprivate func passSync(_ path: String) throws(DiskError) {
    let fails = condition.withLock {
      waiting += 1
      condition.broadcast()
      while isHeld, passes == 0 { condition.wait() }
      if isHeld {
        passes -= 1
        condition.broadcast()
      }
      waiting -= 1
      return failsFromNow
    }
    if fails { throw DiskError(operation: "fdatasync", path: path, number: EIO) }
  }

  func open(_ path: String, _ mode: DiskOpenMode) throws(DiskError) -> any DiskFile {
    HeldFile(try disk.open(path, mode), path, self)
  }
  func list(_ directory: String) throws(DiskError) -> [String]? { try disk.list(directory) }
  func createDirectory(_ path: String) throws(DiskError) { try disk.createDirectory(path) }
  func rename(_ path: String, to target: String) throws(DiskError) { try disk.rename(path, to: target) }
  func remove(_ path: String) throws(DiskError) { try disk.remove(path) }
  func link(_ path: String, to target: String) throws(DiskError) { try disk.link(path, to: target) }
  func syncDirectory(_ path: String) throws(DiskError) { try disk.syncDirectory(path) }
}

private final class HeldFile: DiskFile {
  private let file: any DiskFile
  private let path: String
  private let disk: HeldDisk

  init(_ file: any DiskFile, _ path: String, _ disk: HeldDisk) {
    self.file = file
    self.path = path
    self.disk = disk
  }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(DiskError) -> Int {
    try file.read(into: buffer, at: offset)
  }
  func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(DiskError) -> Int {
    try file.write(bytes, at: offset)
  }
  func sync() throws(DiskError) {
    try disk.passSync(path)
    try file.sync()
  }
  func size() throws(DiskError) -> UInt64 { try file.size() }
  func isNamed(by path: String) throws(DiskError) -> Bool { try file.isNamed(by: path) }
  func tryLock() throws(DiskError) -> Bool { try file.tryLock() }
}
