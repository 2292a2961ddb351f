import ArgumentParser
import ChatPrimitives
import EventLog
import MediaFiles

/// `hansard restore`: makes a data directory from a backup.
struct RestoreCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "restore",
    abstract: "Makes a data directory from a backup.",
    discussion: """
      The data directory must be empty or missing. Every byte is checked. The next start builds the read models. The \
      exit code is 1 if an uploaded file in the backup is damaged; everything else is then restored.
      """)

  @OptionGroup var data: DataOption

  @Option(help: ArgumentHelp("The directory of the backup.", valueName: "dir"))
  var from: String

  func run() async throws {
    try await ToolError.report {
      let (folder, current) = try BackupFolder.existing(from)
      let reader = try LogReader.open(directory: current)
      guard try BackupFolder.content(of: data.directory).isEmpty else {
        throw ToolError(
          "\(data.directory) cannot be restored", because: "it is not empty, and a restore replaces nothing",
          next: "name an empty or new directory with --data")
      }
      let lock = try DirectoryLock(directory: data.directory)
      defer { withExtendedLifetime(lock) {} }
      // The log comes last and its superblock at its end, so a server does not start in an unfinished directory.
      let media = try DataCopy.copyMedia(from: folder.media, to: data.directory + "/media")
      let log = try DataCopy.copyLog(reader, from: current, to: data.directory)
      try PosixDisk().syncDirectory(data.directory)
      let output = ByteOutput()
      try output.line(
        "ok: \(Quantity.count(log.head.value)) events and \(Quantity.count(media.files)) media files in "
          + "\(data.directory); every byte was checked")
      try output.flush()
      if let damage = DataCopy.damage(in: media) { throw damage }
    }
  }
}
