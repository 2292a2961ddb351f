import Dispatch
import Foundation
import Synchronization

@testable import EventLog

/// A file system in memory that can be copied, damaged, counted, made to fail and made to wait.
final class MemoryDisk: Disk {
  /// One file's bytes; a rename changes the name and leaves the bytes to those who have them open.
  final class Image: Sendable {
    let bytes: Mutex<[UInt8]>
    let isLocked = Mutex(false)

    init(_ bytes: [UInt8] = []) {
      self.bytes = Mutex(bytes)
    }
  }

  /// What the nth write does in place of its work.
  enum WriteFault: Sendable {
    case error(Int32)
    /// Only so many bytes are written.
    case short(Int)
  }

  struct Plan: Sendable {
    /// Counted down by each write or sync; the fault happens when it reaches zero.
    var writesUntilFault: Int?
    var writeFault = WriteFault.error(EIO)
    var syncsUntilFault: Int?
    var syncError = EIO
  }

  private let images: Mutex<[String: Image]>
  let plan = Mutex(Plan())
  /// Set to make every sync wait.
  let gate = Mutex<SyncGate?>(nil)
  let bytesRead = Atomic<Int>(0)
  let writes = Atomic<Int>(0)
  let syncs = Atomic<Int>(0)

  init(_ files: [String: [UInt8]] = [:]) {
    images = Mutex(files.mapValues { Image($0) })
  }

  /// All files as they are now.
  var files: [String: [UInt8]] {
    images.withLock { $0 }.mapValues { image in image.bytes.withLock { $0 } }
  }

  func open(_ path: String, _ mode: DiskOpenMode) throws(DiskError) -> any DiskFile {
    let found: Image? = images.withLock { images in
      switch mode {
      case .read, .readWrite: return images[path]
      case .createNew:
        guard images[path] == nil else { return nil }
        images[path] = Image()
        return images[path]
      case .readWriteOrCreate:
        let image = images[path] ?? Image()
        images[path] = image
        return image
      }
    }
    guard let found else {
      throw DiskError(operation: "open", path: path, number: mode == .createNew ? EEXIST : ENOENT)
    }
    return MemoryFile(image: found, path: path, disk: self)
  }

  func list(_ directory: String) throws(DiskError) -> [String]? {
    let names = images.withLock { $0.keys }.filter { $0.hasPrefix(directory + "/") }
      .map { String($0.dropFirst(directory.count + 1)) }.filter { !$0.contains("/") }
    return names.isEmpty ? nil : names
  }

  func createDirectory(_ path: String) throws(DiskError) {}

  func rename(_ path: String, to target: String) throws(DiskError) {
    let done = images.withLock { images in
      guard let image = images.removeValue(forKey: path) else { return false }
      images[target] = image
      return true
    }
    guard done else { throw DiskError(operation: "rename", path: path, number: ENOENT) }
  }

  func remove(_ path: String) throws(DiskError) {
    guard images.withLock({ $0.removeValue(forKey: path) }) != nil else {
      throw DiskError(operation: "unlink", path: path, number: ENOENT)
    }
  }

  func syncDirectory(_ path: String) throws(DiskError) {}
}

private final class MemoryFile: DiskFile {
  private let image: MemoryDisk.Image
  private let path: String
  private let disk: MemoryDisk
  private let hasLock = Mutex(false)

  init(image: MemoryDisk.Image, path: String, disk: MemoryDisk) {
    self.image = image
    self.path = path
    self.disk = disk
  }

  deinit {
    if hasLock.withLock({ $0 }) { image.isLocked.withLock { $0 = false } }
  }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(DiskError) -> Int {
    let count = image.bytes.withLock { bytes in
      let start = min(bytes.count, Int(offset))
      let count = min(buffer.count, bytes.count - start)
      bytes.withUnsafeBytes { buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[start..<start + count])) }
      return count
    }
    disk.bytesRead.add(count, ordering: .relaxed)
    return count
  }

  func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(DiskError) -> Int {
    disk.writes.add(1, ordering: .relaxed)
    let fault: MemoryDisk.WriteFault? = disk.plan.withLock { plan in
      guard let left = plan.writesUntilFault else { return nil }
      plan.writesUntilFault = left > 1 ? left - 1 : nil
      return left > 1 ? nil : plan.writeFault
    }
    var count = bytes.count
    switch fault {
    case .error(let number): throw DiskError(operation: "pwrite", path: path, offset: offset, number: number)
    case .short(let length): count = min(count, length)
    case nil: break
    }
    image.bytes.withLock { image in
      let start = Int(offset)
      if image.count < start + count {
        image.append(contentsOf: [UInt8](repeating: 0, count: start + count - image.count))
      }
      image.withUnsafeMutableBytes { target in
        UnsafeMutableRawBufferPointer(rebasing: target[start..<start + count])
          .copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[..<count]))
      }
    }
    return count
  }

  func sync() throws(DiskError) {
    disk.syncs.add(1, ordering: .relaxed)
    disk.gate.withLock { $0 }?.pass()
    let fails = disk.plan.withLock { plan in
      guard let left = plan.syncsUntilFault else { return false }
      plan.syncsUntilFault = left > 1 ? left - 1 : nil
      return left <= 1
    }
    if fails {
      throw DiskError(operation: "fdatasync", path: path, number: disk.plan.withLock { $0.syncError })
    }
  }

  func size() throws(DiskError) -> UInt64 {
    UInt64(image.bytes.withLock { $0.count })
  }

  func tryLock() throws(DiskError) -> Bool {
    let taken = image.isLocked.withLock { isLocked in
      defer { isLocked = true }
      return !isLocked
    }
    if taken { hasLock.withLock { $0 = true } }
    return taken
  }
}

/// Holds a sync until it is let go.
final class SyncGate: Sendable {
  private let entered = DispatchSemaphore(value: 0)
  private let released = DispatchSemaphore(value: 0)

  func pass() {
    entered.signal()
    // A test that forgets to release fails by its own expectations, not by standing still.
    _ = released.wait(timeout: .now() + .seconds(20))
  }

  /// Returns when a sync has begun; false when none does within seconds.
  func waitUntilEntered() -> Bool {
    entered.wait(timeout: .now() + .seconds(20)) == .success
  }

  func release() {
    released.signal()
  }
}
