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
    let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    let space = StorageSpace([directory, directory + "/missing-\(UUID())"], lowBytes: 0, logger: logger)
    #expect(space.status.directory == directory && space.status.freeBytes < .max)
    let low = StorageSpace([directory], lowBytes: .max, logger: logger)
    #expect(low.status.level != .ok)
    let missing = StorageSpace([directory + "/missing-\(UUID())"], lowBytes: .max, logger: logger)
    #expect(missing.status.level == .ok)
  }
}
