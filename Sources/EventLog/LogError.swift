package import ChatPrimitives

/// An error of the log: a code for programs, and for people what to do next, the cause, and the location.
package struct LogError: Error, Sendable, Hashable {
  /// Stable codes. Other layers and `docs/errors.md` use the raw value.
  package enum Code: String, Sendable, Hashable, CaseIterable {
    /// Durable bytes differ from what was written.
    case corrupt = "log_corrupt"
    /// An earlier write or sync failed; nothing is appended until the process restarts.
    case poisoned = "log_poisoned"
    /// Another process has the data directory.
    case locked = "log_locked"
    /// The file system is full.
    case fullDisk = "log_full_disk"
    /// The file system failed in another way.
    case io = "log_io"
    /// The log does not hold this position, or does not hold it yet.
    case outOfRange = "log_out_of_range"
    /// A payload, block or option exceeds its limit.
    case tooLarge = "log_too_large"
    /// The bytes are intact, but this program does not know their format.
    case wrongVersion = "log_wrong_version"
    /// There is no log in the directory, or a key of the log is missing.
    case missing = "log_missing"
    /// The path of an open file of the log no longer refers to it: the file was deleted, moved or replaced.
    case detached = "log_detached"
    /// The record is one that no reader would accept.
    case invalidRecord = "log_invalid_record"
    /// The block does not follow the head.
    case outOfOrder = "log_out_of_order"
    /// The log was closed.
    case closed = "log_closed"
    /// Two threads append at the same time; the log has one writer.
    case busy = "log_busy"
  }

  /// Where the error occurred.
  package struct Location: Sendable, Hashable {
    /// The name or path of the file.
    package var file: String
    /// The offset in the file, in bytes.
    package var offset: UInt64?
    package var position: LogPosition?

    package init(file: String, offset: UInt64? = nil, position: LogPosition? = nil) {
      self.file = file
      self.offset = offset
      self.position = position
    }
  }

  package var code: Code
  /// What is wrong and what to do next.
  package var message: String
  /// The underlying reason: the system's error text or the check that failed.
  package var cause: String?
  package var location: Location?

  package init(_ code: Code, _ message: String, cause: String? = nil, location: Location? = nil) {
    self.code = code
    self.message = message
    self.cause = cause
    self.location = location
  }
}

extension LogError: CustomStringConvertible {
  package var description: String {
    var text = "\(code.rawValue): \(message)"
    if let cause { text += " Cause: \(cause)." }
    if let location { text += " At \(location)." }
    return text
  }
}

extension LogError.Location: CustomStringConvertible {
  package var description: String {
    var text = file
    if let offset { text += ", offset \(offset)" }
    if let position { text += ", position \(position)" }
    return text
  }
}

extension LogError {
  /// An error for bytes that failed a check.
  init(_ flaw: FormatFlaw, at location: Location) {
    switch flaw.kind {
    case .damaged:
      self.init(
        .corrupt, "The log is damaged here and cannot be read further; restore the log directory from a backup.",
        cause: flaw.reason, location: location)
    case .unknownVersion:
      self.init(
        .wrongVersion, "The log has another format version; use the version of hansard that wrote it.",
        cause: flaw.reason, location: location)
    }
  }

  /// An error for a failed call to the file system.
  init(_ error: DiskError, position: LogPosition? = nil) {
    let location = Location(file: error.path, offset: error.offset, position: position)
    if error.isFullDisk {
      self.init(
        .fullDisk, "The file system of the log is full; free some space, then restart the server.",
        cause: error.description, location: location)
    } else {
      self.init(
        .io, "The file system failed; check the disk and the permissions, then restart the server.",
        cause: error.description, location: location)
    }
  }
}

/// A failed check of bytes, before the file that holds them is known.
package struct FormatFlaw: Error, Sendable, Hashable {
  package enum Kind: Sendable {
    case damaged
    /// The checksum matches, but this program does not know the version.
    case unknownVersion
  }

  package let kind: Kind
  package let reason: String

  package init(_ reason: String, kind: Kind = .damaged) {
    self.kind = kind
    self.reason = reason
  }
}
