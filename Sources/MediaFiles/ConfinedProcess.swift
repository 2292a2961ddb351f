import Subprocess
import SystemPackage

/// A confined program wrote more than `ConfinedProcess.outputBytes`.
struct OutputTooLarge: Error {}

/// Runs a program that reads an untrusted file, in a process of its own. The program gets one open file as its standard
/// input and writes to a pipe. It has no other file descriptor of the server and nothing of its environment, cannot
/// write to any file, and is ended if it uses too much time or memory. It does run as the server's user, so it could
/// read everything that this user can read, and use the network.
struct ConfinedProcess: Sendable {
  /// The limits on processor time and on elapsed time for making a thumbnail, in seconds.
  static let processorSeconds = 10
  static let wallSeconds = 20
  /// The same limits for reading a header, which takes about 40 ms. Uploads wait for it, so a slow one must end soon.
  static let headerProcessorSeconds = 1
  static let headerWallSeconds = 2
  /// The limit on address space, in bytes. An image of `Limits.imagePixels` decodes to 400 MB, and the program with its
  /// libraries takes less than 200 MB.
  static let memoryBytes = 1 << 30
  /// The limit on standard output, in bytes.
  static let outputBytes = 8 * 1024 * 1024

  /// The prlimit(1) program of util-linux, which sets the limits and then executes the program.
  let limiter: FilePath
  var processorTime = processorSeconds
  var wallTime = Duration.seconds(wallSeconds)

  /// Returns what the program wrote; nil if it failed or was ended.
  /// - Throws: `OutputTooLarge` if it wrote more than `outputBytes`.
  func output(of program: FilePath, _ arguments: [String], reading path: String) async throws -> [UInt8]? {
    try await withThrowingTaskGroup(of: [UInt8]?.self) { group in
      group.addTask { try await self.run(program, arguments, reading: path) }
      group.addTask {
        try await Task.sleep(for: wallTime)
        return nil
      }
      defer { group.cancelAll() }
      let output = try await group.next() ?? nil
      // A program that was ended because its caller was cancelled has not failed.
      try Task.checkCancellation()
      return output
    }
  }

  private var limits: [String] {
    [
      "--cpu=\(processorTime)", "--as=\(Self.memoryBytes)", "--fsize=0", "--nofile=64", "--core=0", "--",
    ]
  }

  private func run(_ program: FilePath, _ arguments: [String], reading path: String) async throws -> [UInt8]? {
    // The child process has its own copy; the parent's copy is closed as soon as the child exists.
    let input = try FileDescriptor.open(FilePath(path), .readOnly, options: .closeOnExec)
    // A new session has no terminal to write to and gets no signals that are meant for the server.
    var options = PlatformOptions()
    options.createSession = true
    do {
      let result = try await Subprocess.run(
        .path(limiter), arguments: Arguments(limits + [program.string] + arguments),
        environment: .custom(Self.environment), platformOptions: options,
        input: .fileDescriptor(input, closeAfterSpawningProcess: true), output: .bytes(limit: Self.outputBytes),
        error: .discarded)
      return result.terminationStatus.isSuccess ? result.standardOutput : nil
    } catch let error as SubprocessError where error.code == .outputLimitExceeded {
      throw OutputTooLarge()
    }
  }

  /// Settings for libvips: use only loaders that are safe for untrusted input, one thread, memory instead of temporary
  /// files, and no generated machine code, which would also need such a file.
  private static let environment: [Environment.Key: String] = [
    "VIPS_BLOCK_UNTRUSTED": "1", "VIPS_CONCURRENCY": "1", "VIPS_DISC_THRESHOLD": "2g", "VIPS_NOVECTOR": "1",
    "LC_ALL": "C", "MALLOC_ARENA_MAX": "1",
  ]
}
