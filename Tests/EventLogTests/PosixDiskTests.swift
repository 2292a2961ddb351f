import ChatPrimitives
import Foundation
import Testing

@testable import EventLog

@Suite("On a real file system")
struct PosixDiskTests {
  /// Calls `body` with a directory that does not exist yet, and removes it afterwards.
  private func withDirectory(_ body: (String) throws -> Void) throws {
    let directory = FileManager.default.temporaryDirectory.appendingPathComponent("eventlog-\(UUID())").path
    defer { try? FileManager.default.removeItem(atPath: directory) }
    try body(directory)
  }

  @Test("a log over several segments, the next prepared ahead, comes back")
  func roundTrip() throws {
    try withDirectory { directory in
      let options = LogOptions(segmentBytes: 64 * 1024)
      let log = try EmbeddedLog.open(directory: directory + "/deep/data", options: options)
      for _ in 0..<60 {
        try log.append(Sample.block(after: log.head, records: 20, payloadBytes: 300, compressible: false))
      }
      #expect(try log.allRecords().count == 1200)
      let reader = try LogReader.open(directory: directory + "/deep/data")
      #expect(reader.head == LogPosition(1180))
      try log.close()
      try reader.refresh()
      #expect(try reader.allRecords().count == 1200)
      let report = try LogVerifier(directory: directory + "/deep/data").run()
      #expect(report.segments > 5 && report.records == 1200)
      let names = try FileManager.default.contentsOfDirectory(atPath: directory + "/deep/data/log")
      #expect(!names.contains { $0.hasSuffix(".tmp") })
      let again = try EmbeddedLog.open(directory: directory + "/deep/data", options: options)
      #expect(try again.allRecords().count == 1200)
    }
  }

  @Test("the files are for their owner only")
  func modes() throws {
    try withDirectory { directory in
      _ = try EmbeddedLog.open(directory: directory, options: Sample.options())
      let manager = FileManager.default
      for (path, mode) in [("/log", 0o700), ("/log/superblock", 0o600), ("/log/00000000000000000001.seg", 0o600)] {
        let attributes = try manager.attributesOfItem(atPath: directory + path)
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == mode)
      }
    }
  }

  @Test("a directory is locked against a second holder, and free again when the first is gone")
  func lock() throws {
    try withDirectory { directory in
      do {
        let first = try DirectoryLock(directory: directory)
        #expect(logError { _ = try DirectoryLock(directory: directory) }?.code == .locked)
        withExtendedLifetime(first) {}
      }
      let second = try DirectoryLock(directory: directory)
      let log = try EmbeddedLog.open(directory: directory, options: Sample.options(), lock: second)
      #expect(logError { _ = try EmbeddedLog.open(directory: directory, options: Sample.options()) }?.code == .locked)
      try log.close()
    }
  }

  @Test("a log whose directory is deleted or replaced by a copy accepts no more blocks", arguments: [false, true])
  func lostDirectory(isReplaced: Bool) throws {
    try withDirectory { directory in
      let manager = FileManager.default
      let (path, old) = (directory + "/log", directory + "/log.old")
      let log = try EmbeddedLog.open(directory: directory, options: Sample.options())
      try log.append(Sample.block(after: log.head, records: 1))
      if isReplaced {
        try manager.moveItem(atPath: path, toPath: old)
        try manager.copyItem(atPath: old, toPath: path)
      } else {
        try manager.removeItem(atPath: path)
      }
      let error = logError { try log.append(Sample.block(after: log.head, records: 1)) }
      #expect(error?.code == .detached)
      #expect(log.head == LogPosition(1))
      #expect(logError { try log.append(Sample.block(after: log.head, records: 1)) }?.code == .poisoned)
    }
  }

  @Test("a path names an open file through links to it, but not when a copy has its place")
  func names() throws {
    try withDirectory { directory in
      let (disk, manager) = (PosixDisk(), FileManager.default)
      let (path, other) = (directory + "/file", directory + "/other")
      try disk.createDirectory(directory)
      let file = try disk.open(path, .createNew)
      #expect(try file.isNamed(by: path))
      #expect(try !file.isNamed(by: other))
      #expect(try !file.isNamed(by: path + "/below"))
      try manager.createSymbolicLink(atPath: directory + "/link", withDestinationPath: directory)
      #expect(try file.isNamed(by: directory + "/link/file"))
      try manager.linkItem(atPath: path, toPath: other)
      #expect(try file.isNamed(by: path))
      #expect(try file.isNamed(by: other))
      try disk.remove(path)
      #expect(try !file.isNamed(by: path))
      try manager.copyItem(atPath: other, toPath: path)
      #expect(try !file.isNamed(by: path))
      try disk.rename(other, to: path)
      #expect(try file.isNamed(by: path))
    }
  }

  @Test("a failed call says which, on what, and why")
  func errors() throws {
    let error = logError { _ = try LogReader.open(directory: "/proc/self/status") }
    #expect(error?.code == .io)
    #expect(error?.cause?.contains("errno 20") == true)
    #expect(error?.description.contains("/proc/self/status/log") == true)
  }

  @Test("a file is read at an offset, short only at its end")
  func files() throws {
    try withDirectory { directory in
      let disk = PosixDisk()
      #expect(try disk.list(directory) == nil)
      try disk.createDirectory(directory)
      let file = try disk.open(directory + "/file", .createNew)
      #expect(throws: DiskError.self) { try disk.open(directory + "/file", .createNew) }
      #expect(throws: DiskError.self) { try disk.open(directory + "/none", .read) }
      let bytes: [UInt8] = [1, 2, 3, 4, 5]
      #expect(try bytes.withUnsafeBytes { try file.write($0, at: 10) } == 5)
      try file.sync()
      #expect(try file.size() == 15)
      var buffer = [UInt8](repeating: 9, count: 8)
      #expect(try buffer.withUnsafeMutableBytes { try file.read(into: $0, at: 12) } == 3)
      #expect(buffer == [3, 4, 5, 9, 9, 9, 9, 9])
      #expect(try disk.list(directory) == ["file"])
      try disk.rename(directory + "/file", to: directory + "/other")
      try disk.remove(directory + "/other")
      #expect(try disk.list(directory) == [])
    }
  }
}
