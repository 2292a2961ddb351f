import ArgumentParser
import ChatPrimitives
import ChatService
import EventLog
import EventStore
import MediaFiles

/// `hansard backup`: copies what cannot be made again, beside a running server.
struct BackupCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "backup",
    abstract: "Backs up the log, the keys and the uploaded files, beside a running server.",
    discussion: """
      A further backup into the same directory copies only what is new, then checks every byte of the log again. If it \
      fails or is interrupted, the one before it stays usable. The exit code is 1 if an uploaded file is damaged; \
      everything else is then backed up.
      """)

  @OptionGroup var data: DataOption

  @Option(help: ArgumentHelp("The directory of the backup, on another disk.", valueName: "dir"))
  var to: String

  @Flag(help: "Also remove from the backup the uploaded files that the data directory no longer has.")
  var prune = false

  func run() async throws {
    try await ToolError.report {
      let reader = try data.openLog()
      try data.recoverLogUnlessInUse()
      try reader.refresh()
      _ = try ServerKeys.load(directory: data.directory, log: reader.identity.bytes, mayCreate: false)
      let (folder, lock) = try BackupFolder.forWriting(to)
      defer { withExtendedLifetime(lock) {} }
      let previous = try previous(folder, reader)
      let log = try copyLog(reader, to: folder, sharingWith: previous?.path)
      let media = try DataCopy.copyMedia(from: data.directory + "/media", to: folder.media)
      let copy = MediaCopy(from: data.directory + "/media", to: folder.media)
      // Prunes before this backup becomes the current one, because the next backup no longer looks at these events.
      var pruned = try mustForget(reader, since: previous?.head) ? copy.removeOthers() : 0
      try folder.complete(log.copy)
      if prune { pruned += try copy.removeOthers() }
      try report(log.report, media, pruned)
      if let damage = DataCopy.damage(in: media) { throw damage }
    }
  }

  /// Whether an erasure was completed since the backup before. Then its uploaded files have to leave the backup.
  private func mustForget(_ reader: LogReader, since position: LogPosition?) throws -> Bool {
    guard let position else { return false }
    return try PendingErasures.completes(in: reader, after: position)
  }

  private func copyLog(
    _ reader: LogReader, to folder: BackupFolder, sharingWith previous: String?
  ) throws -> (copy: String, report: LogCopy.Report) {
    let copy = try folder.makeCopy(head: reader.head)
    do {
      return (copy, try DataCopy.copyLog(reader, from: data.directory, to: copy, sharingWith: previous))
    } catch let error as LogError where error.code == .corrupt {
      // Tries only once more: if the log itself is damaged, the second copy fails too.
      Terminal.printError(
        "hansard: the copy is damaged, perhaps because the backup before it is, or because a user was erased meanwhile; "
          + "everything is copied again\n")
      try folder.remove(copy)
      try reader.refresh()
    } catch {
      try? folder.remove(copy)
      throw error
    }
    let fresh = try folder.makeCopy(head: reader.head)
    do {
      return (fresh, try DataCopy.copyLog(reader, from: data.directory, to: fresh))
    } catch {
      try? folder.remove(fresh)
      throw error
    }
  }

  /// The backup before this one. It must be an earlier state of the same log: otherwise it is the only copy of something.
  /// - Returns: its path, nil if it cannot be read; and its head. Nil if there is none.
  private func previous(_ folder: BackupFolder, _ reader: LogReader) throws -> (path: String?, head: LogPosition)? {
    guard let current = folder.current else { return nil }
    let earlier: LogReader
    do {
      earlier = try LogReader.open(directory: current)
    } catch {
      Terminal.printError("hansard: the backup in \(to) cannot be read, so everything is copied again. \(error)\n")
      return (nil, .origin)
    }
    guard earlier.identity == reader.identity else {
      throw ToolError(
        "\(to) cannot be used for this backup", because: "it has the backup of another log, \(earlier.identity)",
        next: "name another directory with --to")
    }
    guard earlier.head <= reader.head else {
      throw ToolError(
        "\(to) cannot be used for this backup",
        because: "the backup has \(earlier.head) events and the log only \(reader.head), so the log has lost some",
        next: "restore the backup into another data directory, or name another directory with --to")
    }
    return (current, earlier.head)
  }

  private func report(_ log: LogCopy.Report, _ media: MediaCopy.Report, _ pruned: Int) throws {
    let output = ByteOutput()
    try output.line(
      "ok: \(Quantity.count(log.head.value)) events, copied "
        + "\(Quantity.count(log.segments - log.linkedSegments)) of \(Quantity.count(log.segments)) segments, "
        + "\(Quantity.bytes(log.bytesCopied)); every byte of the log was checked")
    try output.line(
      "\(Quantity.count(media.files)) media files, copied \(Quantity.count(media.copied)), "
        + "\(Quantity.bytes(media.bytesCopied))" + (pruned == 0 ? "" : "; removed \(Quantity.count(pruned))"))
    try output.flush()
  }
}
