/// The files `checkpoint.key` and `checkpoint.pub` in the data directory. The key file is written first, so that a
/// crash leaves no public key without its private key.
extension CheckpointKey {
  package static let fileName = "checkpoint.key"
  package static let publicFileName = "checkpoint.pub"

  /// Reads the key that signs a log's tree heads.
  /// - Returns: nil if there is none.
  package static func load(
    directory: String, identity: LogIdentity, disk: any Disk
  ) throws(LogError) -> CheckpointKey? {
    guard let text = try read(fileName, in: directory, disk: disk) else { return nil }
    let key: CheckpointKey
    do {
      key = try CheckpointKey(parsing: text)
    } catch {
      throw damage(fileName, "The key that signs tree heads is damaged; restore it from a backup.", error.reason)
    }
    try check(key.name, identity, file: fileName)
    return key
  }

  /// Reads the key that verifies a log's tree heads.
  /// - Returns: nil if there is none.
  package static func loadVerifier(
    directory: String, identity: LogIdentity, disk: any Disk
  ) throws(LogError) -> VerifierKey? {
    guard let text = try read(publicFileName, in: directory, disk: disk) else { return nil }
    let key: VerifierKey
    do {
      key = try VerifierKey(parsing: text)
    } catch {
      throw damage(publicFileName, "The verifier key is damaged; restore it from a backup.", error.reason)
    }
    try check(key.name, identity, file: publicFileName)
    return key
  }

  /// Reads the key of a log, or creates one durably.
  /// - Parameter random: random bits that are secure enough for a secret.
  package static func loadOrCreate(
    directory: String, identity: LogIdentity, disk: any Disk, random: () -> UInt64
  ) throws(LogError) -> CheckpointKey {
    let verifier = try loadVerifier(directory: directory, identity: identity, disk: disk)
    if let key = try load(directory: directory, identity: identity, disk: disk) {
      guard verifier != key.verifier else { return key }
      guard verifier == nil else {
        throw damage(
          publicFileName, "The two key files do not match; restore both from a backup.",
          "the verifier key is not that of \(fileName)")
      }
      try write(key.verifier.text, to: publicFileName, in: directory, disk: disk)
      return key
    }
    guard verifier == nil else {
      throw LogError(
        .missing,
        "The key that signs tree heads is missing; restore it from a backup.",
        cause: "there is \(publicFileName), but not \(fileName)", location: .init(file: fileName))
    }
    let words = (0..<seedBytes / 8).map { _ in random() }
    let key: CheckpointKey
    do {
      key = try CheckpointKey(
        identity: identity, seed: words.flatMap { word in withUnsafeBytes(of: word.littleEndian) { [UInt8]($0) } })
    } catch {
      throw LogError(.io, "No key could be created.", cause: error.reason, location: .init(file: fileName))
    }
    do {
      try uninterrupted { () throws(DiskError) in try disk.createDirectory(directory) }
    } catch {
      throw LogError(error)
    }
    try write(key.text, to: fileName, in: directory, disk: disk)
    try write(key.verifier.text, to: publicFileName, in: directory, disk: disk)
    return key
  }

  /// Removes unfinished key files that a crash left behind.
  static func removeUnfinished(directory: String, disk: any Disk) throws(LogError) {
    for name in [fileName, publicFileName] { try removeUnfinished(directory + "/" + name, disk: disk) }
  }

  private static func removeUnfinished(_ path: String, disk: any Disk) throws(LogError) {
    do {
      try uninterrupted { () throws(DiskError) in try disk.remove(path + LogFolder.temporarySuffix) }
    } catch {
      if !error.isMissingFile { throw LogError(error) }
    }
  }

  private static func check(_ name: String, _ identity: LogIdentity, file: String) throws(LogError) {
    guard name.utf8.elementsEqual(origin(of: identity).utf8) else {
      throw damage(file, "The key belongs to another log; restore the key of this log.", "it is named \(name)")
    }
  }

  private static func damage(_ file: String, _ message: String, _ cause: String) -> LogError {
    LogError(.corrupt, message, cause: cause, location: .init(file: file))
  }

  private static func read(_ name: String, in directory: String, disk: any Disk) throws(LogError) -> String? {
    let path = directory + "/" + name
    let file: LogFile
    do {
      let opened = try uninterrupted { () throws(DiskError) in try disk.open(path, .read) }
      file = LogFile(file: opened, name: name, path: path, counts: ReadCounts())
    } catch {
      if error.isMissingFile { return nil }
      throw LogError(error)
    }
    // One byte over the limit is enough to reject the file.
    let bytes = try file.read(at: 0, count: VerifierKey.maximumTextBytes + 1)
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw damage(name, "The key is damaged; restore it from a backup.", "it is not UTF-8")
    }
    return text
  }

  /// Writes a line to a file under a temporary name, then gives the file its final name. A process that was killed may
  /// have named the files that this one depends on, the log and the other key file, so the directory is synced first.
  private static func write(
    _ line: String, to name: String, in directory: String, disk: any Disk
  ) throws(LogError) {
    let path = directory + "/" + name
    let unfinished = path + LogFolder.temporarySuffix
    do {
      try uninterrupted { () throws(DiskError) in try disk.syncDirectory(directory) }
    } catch {
      throw LogError(error)
    }
    try removeUnfinished(path, disk: disk)
    let file: LogFile
    do {
      let opened = try uninterrupted { () throws(DiskError) in try disk.open(unfinished, .createNew) }
      file = LogFile(file: opened, name: name, path: unfinished, counts: ReadCounts())
    } catch {
      throw LogError(error)
    }
    try file.write(Array("\(line)\n".utf8), at: 0)
    try file.sync()
    do {
      try uninterrupted { () throws(DiskError) in try disk.rename(unfinished, to: path) }
      try uninterrupted { () throws(DiskError) in try disk.syncDirectory(directory) }
    } catch {
      throw LogError(error)
    }
  }
}
