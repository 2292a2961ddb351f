import Foundation
import Logging
import Testing

@testable import ChatService

@Suite("Disk space")
struct StorageSpaceSpecs {
  private static let full = StorageSpace.fullBytes
  private static let low = StorageSpace.defaultLowBytes

  @Test(
    "is low below the setting, and full below one segment or without files",
    arguments: [
      (low + 1, nil, .ok), (low, nil, .ok), (low - 1, nil, .low), (full + 1, nil, .low), (full, 1, .low),
      (full - 1, nil, .full), (0, nil, .full), (low, 1, .ok), (low, 0, .full), (.max, 0, .full),
    ] as [(UInt64, UInt64?, StorageStatus.Level)])
  func levels(bytes: UInt64, files: UInt64?, level: StorageStatus.Level) {
    #expect(StorageSpace.level(bytes: bytes, files: files, lowBytes: Self.low) == level)
  }

  @Test("with a limit of zero, space is never low, only full")
  func noLimit() {
    #expect(StorageSpace.level(bytes: Self.full, files: nil, lowBytes: 0) == .ok)
    #expect(StorageSpace.level(bytes: Self.full - 1, files: nil, lowBytes: 0) == .full)
  }

  @Test("is measured where it is least, and missing directories do not count")
  func measures() {
    let directory = FileManager.default.temporaryDirectory.path
    let missing = directory + "/missing-\(UUID())"
    let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    let space = StorageSpace(lowBytes: 0, logger: logger) { $0 == .media ? missing : directory }
    #expect(space.status.spaces.map(\.part) == [.data, .log, .views])
    #expect(space.status.least?.directory == directory && space.status.freeBytes < .max)
    let low = StorageSpace(lowBytes: .max, logger: logger) { _ in directory }
    #expect(low.status.level != .ok)
    let nothing = StorageSpace(lowBytes: .max, logger: logger) { _ in missing }
    #expect(nothing.status.level == .ok && nothing.status.spaces.isEmpty)
  }

  private static func status(full: Set<StorageStatus.Part>) -> StorageStatus {
    StorageStatus(
      spaces: StorageStatus.Part.allCases.map { part in
        StorageStatus.Space(
          part: part, directory: part.rawValue, level: full.contains(part) ? .full : .ok,
          freeBytes: full.contains(part) ? 0 : .max)
      })
  }

  @Test("only what is on a full file system is said to fail", arguments: StorageStatus.Part.allCases)
  func failures(part: StorageStatus.Part) {
    let status = Self.status(full: [part])
    #expect(status.level == .full && status.least?.part == part)
    #expect(status.failures.contains("event log") == (part == .log))
    #expect(status.failures.contains("Read models") == (part == .views))
    #expect(status.failures.contains("Uploads") == (part == .media))
  }

  @Test("everything on one full file system is said to fail")
  func allFailures() {
    let failures = Self.status(full: Set(StorageStatus.Part.allCases)).failures
    for word in ["event log", "Read models", "Uploads"] { #expect(failures.contains(word)) }
    #expect(Self.status(full: []).failures.isEmpty)
  }
}
