import ChatPrimitives
import ChatService
import EventLog
import Foundation

/// Checks the data directory: its mode, the log, the keys, the space on its disks, and the clock against the log.
struct DirectoryChecks {
  /// The space that the log needs soon, in bytes: the next segment, one that is being sealed, and read models.
  private static let neededBytes: UInt64 = 256 * 1024 * 1024
  /// The number of files that can still be made on a healthy file system.
  private static let neededFiles: UInt64 = 1_000
  /// The bits of a mode that give access to others than the owner.
  private static let othersBits: mode_t = 0o077

  let directory: String
  /// Whether a server uses the directory.
  let isInUse: Bool

  func run() -> [Finding] {
    guard FileManager.default.fileExists(atPath: directory) else {
      return [.ok("data", "\(directory) does not exist yet; the first start creates it")]
        + space([parent(of: directory)])
    }
    let use = isInUse ? "a server uses it" : "no server uses it"
    var findings = Finding.all(access(), or: .ok("data", "\(directory) belongs to this user alone; \(use)"))
    findings += log()
    findings += space(["", "/log", "/media", "/views"].map { directory + $0 })
    return findings
  }

  // MARK: - Access

  private func access() -> [Finding] {
    var status = stat()
    guard stat(directory, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
      return [.problem("data", "\(directory) is not a directory", next: "name the data directory with --data")]
    }
    var problems: [Finding] = []
    if status.st_uid != geteuid() {
      problems.append(
        .problem(
          "data", "\(directory) belongs to the user with the ID \(status.st_uid), and this is \(geteuid())",
          next: "run hansard doctor as the user that runs the server"))
    }
    if status.st_mode & Self.othersBits != 0 {
      problems.append(
        .problem("data", "other users can open \(directory)", next: "run: chmod 700 \(directory)"))
    }
    if Foundation.access(directory, W_OK) != 0 {
      problems.append(
        .problem(
          "data", "\(directory) cannot be written: \(SystemError.text(errno))", next: "correct its owner or mode"))
    }
    return problems
  }

  // MARK: - The log, its keys, and the clock

  private func log() -> [Finding] {
    let reader: LogReader
    do {
      reader = try LogReader.open(directory: directory)
    } catch  where error.code == .missing {
      return [.ok("log", "there is no log yet; the first start creates it")]
    } catch {
      return [.problem("log", error)]
    }
    let events = "\(Quantity.count(reader.head.value)) events"
    var findings: [Finding] = [.ok("log", "\(events); hansard log verify checks every byte")]
    findings += Finding.all(keys(reader), or: .ok("keys", "they belong to the log, and only this user can read them"))
    do {
      findings.append(try clock(reader))
    } catch {
      findings.append(.problem("log", error))
    }
    return findings
  }

  private func keys(_ reader: LogReader) -> [Finding] {
    var problems: [Finding] = []
    do {
      _ = try ServerKeys.load(directory: directory, log: reader.identity.bytes, mayCreate: reader.head == .origin)
    } catch {
      problems.append(.problem("keys", error.description, next: "without it, the server does not start"))
    }
    do {
      let disk = PosixDisk()
      let key = try CheckpointKey.load(directory: directory, identity: reader.identity, disk: disk)
      if key == nil {
        problems.append(
          .problem(
            "keys", "\(CheckpointKey.fileName) is missing, so no segment is sealed and no tree head is made",
            next: "restore it from a backup"))
      }
      let verifier = try CheckpointKey.loadVerifier(directory: directory, identity: reader.identity, disk: disk)
      if let key, let verifier, key.verifier != verifier {
        problems.append(
          .problem(
            "keys", "\(CheckpointKey.publicFileName) is not the public part of \(CheckpointKey.fileName)",
            next: "restore both from a backup"))
      }
    } catch {
      problems.append(.problem("keys", error))
    }
    for name in [ServerKeys.fileName, CheckpointKey.fileName, "admin-token"] {
      problems += PrivateFileCheck(path: "\(directory)/\(name)", forbids: Self.othersBits).problems("keys")
    }
    return problems
  }

  private func clock(_ reader: LogReader) throws -> Finding {
    let now = ChatService.now()
    guard reader.head > .origin, let last = try reader.block(containing: reader.head).records.last else {
      return .ok("clock", "\(now)")
    }
    let behind = last.envelope.time.milliseconds - now.milliseconds
    guard behind > Limits.clockJumpMilliseconds else { return .ok("clock", "\(now), after the last event") }
    return .problem(
      "clock", "the system clock is \(behind / 1000) seconds behind the last event, at \(last.envelope.time)",
      next: "correct the clock; if it is right, it was ahead when the event was recorded, and nothing has to be done")
  }

  // MARK: - Space

  /// Checks each file system once.
  private func space(_ paths: [String]) -> [Finding] {
    var problems: [Finding] = []
    var seen: Set<dev_t> = []
    var least: UInt64?
    for path in paths {
      var status = stat()
      var system = statvfs()
      guard stat(path, &status) == 0, seen.insert(status.st_dev).inserted, statvfs(path, &system) == 0 else { continue }
      let free = UInt64(system.f_bavail) * UInt64(system.f_frsize)
      least = min(least ?? free, free)
      if system.f_flag & UInt(ST_RDONLY) != 0 {
        problems.append(.problem("disk", "the file system of \(path) is read-only", next: "mount it for writing"))
      }
      if free < Self.neededBytes {
        problems.append(
          .problem(
            "disk", "\(path) has only \(Quantity.bytes(free)) left",
            next: "free some space, at least \(Quantity.bytes(Self.neededBytes))"))
      }
      // A file system without a fixed number of files reports zero.
      if system.f_files > 0, UInt64(system.f_favail) < Self.neededFiles {
        problems.append(
          .problem("disk", "on \(path), only \(system.f_favail) more files can be made", next: "remove some files"))
      }
    }
    return Finding.all(problems, or: .ok("disk", "\(Quantity.bytes(least ?? 0)) left"))
  }

  private func parent(of path: String) -> String {
    var parent = URL(fileURLWithPath: path).deletingLastPathComponent()
    while !FileManager.default.fileExists(atPath: parent.path), parent.path != "/" { parent.deleteLastPathComponent() }
    return parent.path
  }
}

/// Checks that a file with a secret is not open to others.
struct PrivateFileCheck {
  let path: String
  /// The bits of the mode that must not be set.
  let forbids: mode_t

  /// No problem if there is no such file.
  func problems(_ subject: String) -> [Finding] {
    var status = stat()
    guard stat(path, &status) == 0, status.st_mode & forbids != 0 else { return [] }
    let mode = String(status.st_mode & 0o777, radix: 8)
    return [
      .problem(subject, "other users can open \(path), which has the mode \(mode)", next: "run: chmod go-rwx \(path)")
    ]
  }
}
