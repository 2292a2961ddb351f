import Foundation
import SystemPackage
import Testing

@testable import MediaFiles

/// What a program that reads an untrusted file can and cannot do.
@Suite("A confined process")
struct ConfinedProcessTests {
  /// The wall time does not pass before the programs end, however long their tasks wait beside the other tests.
  private let process: ConfinedProcess = {
    var process = ConfinedProcess(limiter: "/usr/bin/prlimit")
    process.wallTime = .seconds(3600)
    return process
  }()

  private func shell(_ script: String, reading path: String = "/dev/null") async throws -> String? {
    try await process.output(of: "/bin/sh", ["-c", script], reading: path).map { String(decoding: $0, as: UTF8.self) }
  }

  @Test("it reads the given file, and its output is returned")
  func reads() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/file [1]"
    try Data("kettle".utf8).write(to: URL(filePath: path))
    #expect(try await shell("cat", reading: path) == "kettle")
  }

  @Test("it has no descriptor but its own three, though the server has many")
  func descriptors() async throws {
    let leaked = open("/etc/passwd", O_RDONLY)
    defer { close(leaked) }
    let list = try #require(try await shell("for f in /proc/self/fd/*; do echo ${f##*/}; done"))
    // The fourth is the directory that the shell lists.
    let numbers = list.split(separator: "\n").compactMap { Int($0) }
    #expect(numbers.starts(with: [0, 1, 2]) && numbers.count <= 4 && !numbers.contains(Int(leaked)))
  }

  @Test("it knows nothing of the server's environment")
  func environment() async throws {
    setenv("HANSARD_TEST_SECRET", "secret", 1)
    defer { unsetenv("HANSARD_TEST_SECRET") }
    let environment = try #require(try await process.output(of: "/usr/bin/env", [], reading: "/dev/null"))
    let text = String(decoding: environment, as: UTF8.self)
    #expect(!text.contains("secret") && text.contains("VIPS_BLOCK_UNTRUSTED=1"))
  }

  @Test("it can write no file")
  func writes() async throws {
    let folder = try TemporaryFolder()
    #expect(try await shell("echo x > '\(folder.path)/file'") == nil)
    let size = try FileManager.default.attributesOfItem(atPath: folder.path + "/file")[.size] as? Int
    #expect(size == 0)
  }

  @Test("its limits are set")
  func limits() async throws {
    let limits = try #require(try await shell("ulimit -t; ulimit -v; ulimit -f; ulimit -n; ulimit -c"))
    #expect(
      limits.split(separator: "\n") == [
        "\(ConfinedProcess.processorSeconds)", "\(ConfinedProcess.memoryBytes / 1024)", "0", "64", "0",
      ])
  }

  @Test("a process that reads a header has a limit of its own")
  func headerLimit() async throws {
    let seconds = ConfinedProcess.headerProcessorSeconds
    let process = ConfinedProcess(limiter: "/usr/bin/prlimit", processorTime: seconds)
    let limit = try #require(try await process.output(of: "/bin/sh", ["-c", "ulimit -t"], reading: "/dev/null"))
    #expect(String(decoding: limit, as: UTF8.self) == "\(seconds)\n")
  }

  @Test("a process that fails or is killed returns no output")
  func failures() async throws {
    #expect(try await shell("echo x; exit 3") == nil)
    #expect(try await shell("echo x; kill -9 $$") == nil)
  }

  @Test("too much output is distinguished from a failure")
  func tooLarge() async throws {
    await #expect(throws: OutputTooLarge.self) { _ = try await shell("exec cat", reading: "/dev/zero") }
  }

  @Test("a process that hangs is killed, and has ended when that is reported")
  func killed() async throws {
    var process = process
    process.wallTime = .milliseconds(200)
    // Identified by a duration that no other process uses.
    let seconds = "\(UInt32.random(in: 1_000_000...999_999_999))"
    #expect(try await process.output(of: "/bin/sleep", [seconds], reading: "/dev/null") == nil)
    let commands = try FileManager.default.contentsOfDirectory(atPath: "/proc").filter { Int($0) != nil }
      .compactMap { try? String(contentsOfFile: "/proc/\($0)/cmdline", encoding: .utf8) }
    #expect(!commands.contains { $0.contains(seconds) })
  }

  @Test("a process that exceeds its memory returns no output")
  func memory() async throws {
    #expect(try await shell("exec tail", reading: "/dev/zero") == nil)
  }
}
