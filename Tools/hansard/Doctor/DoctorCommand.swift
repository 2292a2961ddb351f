import ArgumentParser
import EventLog
import Foundation

/// `hansard doctor`: says what is wrong with a server's settings, data, machine and services, and what to do.
struct DoctorCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "doctor",
    abstract: "Checks the settings, the data directory, the machine, issuers of tokens and push credentials.",
    discussion: """
      Takes the options and settings of hansard serve. It changes nothing and works while a server runs. To check push \
      credentials, it sends a silent notification to a token that no device has. The exit code is 1 if something is wrong.
      """)

  @OptionGroup var options: ServeOptions

  func run() async throws {
    try await ToolError.report {
      let (settings, problems) = ServeSettings.readAll(try options.sources())
      var findings = Finding.all(
        problems.map { .problem("settings", $0) }, or: .ok("settings", "every setting is known and has a valid value"))
      let isInUse = try Self.isInUse(settings.data)
      findings += DirectoryChecks(directory: settings.data, isInUse: isInUse).run()
      findings += await ServiceChecks(settings: settings, isInUse: isInUse).run()
      let output = ByteOutput()
      for finding in findings { try output.line(finding.line) }
      try output.flush()
      let count = findings.count { $0.outcome == .problem }
      if count > 0 {
        throw ToolError(count == 1 ? "1 problem was found" : "\(count) problems were found", exit: .found)
      }
    }
  }

  /// Whether a server has the lock of the data directory. The lock is not taken if there is no lock file, which would be
  /// created.
  private static func isInUse(_ directory: String) throws -> Bool {
    guard FileManager.default.fileExists(atPath: "\(directory)/\(DirectoryLock.fileName)") else { return false }
    do {
      _ = try DirectoryLock(directory: directory)
      return false
    } catch {
      // A directory of another user is reported by its own check.
      return error.code == .locked
    }
  }
}
