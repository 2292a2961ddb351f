import Subprocess
import SystemPackage

/// A confined program wrote more than `ConfinedProcess.outputBytes`.
struct OutputTooLarge: Error {}

/// Runs a program that looks at what a stranger has sent, in a process of its own: it is given one file that is open as
/// its standard input, writes to a pipe, and is told nothing else. It has no other descriptor of the server's, none of its
/// environment, can put no byte into a file, and ends when it takes too long or too much. It runs under the server's user,
/// though: it could read what that user may read, and reach the network.
struct ConfinedProcess: Sendable {
  /// Seconds of processor time, and of any time, for making a thumbnail.
  static let processorSeconds = 10
  static let wallSeconds = 20
  /// The same for reading a header, which takes some 40 ms. Uploads wait for it, so a slow one must end soon.
  static let headerProcessorSeconds = 1
  static let headerWallSeconds = 2
  /// Bytes of address space. An image of `Limits.imagePixels` decodes to 400 MB, and the program with its libraries
  /// takes less than 200 MB.
  static let memoryBytes = 1 << 30
  /// Bytes that it may write to its standard output.
  static let outputBytes = 8 * 1024 * 1024

  /// util-linux's prlimit(1), which sets the limits and becomes the program.
  let limiter: FilePath
  var processorTime = processorSeconds
  var wallTime = Duration.seconds(wallSeconds)

  /// What the program wrote; nil when it failed or was ended.
  /// - Throws: `OutputTooLarge` when it wrote more than `outputBytes`.
  func output(of program: FilePath, _ arguments: [String], reading path: String) async throws -> [UInt8]? {
    try await withThrowingTaskGroup(of: [UInt8]?.self) { group in
      group.addTask { try await self.run(program, arguments, reading: path) }
      group.addTask {
        try await Task.sleep(for: wallTime)
        return nil
      }
      defer { group.cancelAll() }
      let output = try await group.next() ?? nil
      // A program that was ended because nobody waits has not failed.
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
    // The child's copy has its own end; the parent's is closed as soon as there is a child.
    let input = try FileDescriptor.open(FilePath(path), .readOnly, options: .closeOnExec)
    // Without a terminal to write to, and without signals that are meant for the server.
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

  /// libvips uses the loaders alone that are fit for untrusted input, one thread, memory where it would otherwise write
  /// to a temporary file, and no code that it makes itself, which would go through such a file too.
  private static let environment: [Environment.Key: String] = [
    "VIPS_BLOCK_UNTRUSTED": "1", "VIPS_CONCURRENCY": "1", "VIPS_DISC_THRESHOLD": "2g", "VIPS_NOVECTOR": "1",
    "LC_ALL": "C", "MALLOC_ARENA_MAX": "1",
  ]
}
