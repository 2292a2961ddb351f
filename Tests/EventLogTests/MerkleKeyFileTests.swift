import ChatPrimitives
import EventLogSimulation
import Testing

@testable import EventLog

@Suite("Key files of tree heads")
struct MerkleKeyFileTests {
  private static let keyPath = dataDirectory + "/" + CheckpointKey.fileName
  private static let publicPath = dataDirectory + "/" + CheckpointKey.publicFileName

  private func loadOrCreate(_ disk: SimulatedDisk, _ number: UInt64 = 1) throws -> CheckpointKey {
    var bits = number
    return try CheckpointKey.loadOrCreate(directory: dataDirectory, identity: SignedSample.identity, disk: disk) {
      bits += 1
      return bits
    }
  }

  private func load(_ disk: SimulatedDisk) throws -> CheckpointKey? {
    try CheckpointKey.load(directory: dataDirectory, identity: SignedSample.identity, disk: disk)
  }

  @Test("a key is made once, of all its random bits, and both files hold a line")
  func makeOnce() throws {
    let disk = SimulatedDisk()
    #expect(try load(disk) == nil)
    let key = try loadOrCreate(disk)
    let seed = [UInt8]([2, 3, 4, 5].map { [$0, 0, 0, 0, 0, 0, 0, 0] }.joined())
    #expect(try key.text == SignedSample.key(seed).text)
    #expect(
      disk.files == [
        Self.keyPath: Array((key.text + "\n").utf8), Self.publicPath: Array((key.verifier.text + "\n").utf8),
      ])
    let before = disk.writes
    #expect(try loadOrCreate(disk, 77).text == key.text && load(disk)?.text == key.text)
    #expect(disk.writes == before)
    let verifier = try CheckpointKey.loadVerifier(
      directory: dataDirectory, identity: SignedSample.identity, disk: disk)
    #expect(verifier == key.verifier)
  }

  @Test("after a failed write or sync nothing unfinished counts, and the next start repairs it")
  func failures() throws {
    for step in 1...2 {
      for isSync in [false, true] {
        let disk = SimulatedDisk()
        disk.plan(.inputOutput, at: step, of: isSync ? .sync : .write)
        #expect(logError { _ = try loadOrCreate(disk) }?.code == .io)
        let found = try load(disk)
        #expect((found != nil) == (step == 2))
        #expect(disk.files[Self.publicPath] == nil)
        // This is longer than a key, so that a remnant of a crash would be visible.
        let left = SimulatedDisk(disk.files.merging([Self.keyPath + ".tmp": [UInt8](repeating: 65, count: 500)]) { $1 })
        let key = try loadOrCreate(left, 50)
        if let found { #expect(key.text == found.text) }
        #expect(try load(left)?.text == key.text)
        #expect(left.files[Self.publicPath] == Array((key.verifier.text + "\n").utf8))
      }
    }
    let short = SimulatedDisk()
    short.plan(.shortWrite(20), at: 1, of: .write)
    #expect(logError { _ = try loadOrCreate(short) }?.code == .fullDisk)
    #expect(try load(short) == nil)
  }

  @Test("a damaged key, one of another log, and files that do not belong together are refused and left alone")
  func refusals() throws {
    let disk = SimulatedDisk()
    let good = try loadOrCreate(disk)
    func code(_ files: [String: [UInt8]]) -> LogError.Code? {
      let disk = SimulatedDisk(files)
      let code = logError { _ = try loadOrCreate(disk) }?.code
      #expect(disk.files == files)
      return code
    }
    var files = disk.files
    files[Self.keyPath]?[40] ^= 1
    #expect(code(files) == .corrupt)
    files[Self.keyPath] = [UInt8](repeating: 0xff, count: 10)
    #expect(code(files) == .corrupt)
    files[Self.keyPath] = []
    #expect(code(files) == .corrupt)
    files[Self.keyPath] = Array((good.text + String(repeating: "A", count: 2_000)).utf8)
    #expect(code(files) == .corrupt)
    files[Self.keyPath] = Array(try SignedSample.key().text.utf8)
    #expect(code(files) == .corrupt)
    files[Self.keyPath] = Array(
      try CheckpointKey(identity: LogIdentity(bytes: .zero), seed: SignedSample.seed).text.utf8)
    #expect(code(files) == .corrupt)
    files = disk.files
    files[Self.publicPath]?[60] ^= 1
    #expect(code(files) == .corrupt)
    files = disk.files
    files[Self.keyPath] = nil
    #expect(code(files) == .missing)
  }
}
