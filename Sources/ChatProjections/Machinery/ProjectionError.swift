package import ChatPrimitives

/// A failure of a read model: what, where and why.
package struct ProjectionError: Error, Sendable, Hashable {
  /// Stable; appears in logs and in what `replay` prints.
  package enum Code: String, Sendable, CaseIterable {
    /// The feed did not give the event that follows the checkpoint.
    case feedGap = "projection_feed_gap"
    /// A row has a form that the schema does not allow.
    case damagedRow = "projection_damaged_row"
    /// A file could not be created, opened, renamed or synced.
    case fileFailed = "projection_file_failed"
    /// Whatever has the file's name can be neither used nor renamed, for example a mount point.
    case cannotMoveAside = "projection_immovable"
    /// The file follows another log, or is ahead of this one.
    case foreignFile = "projection_foreign_file"
    /// There is no projection of that name.
    case unknownProjection = "projection_unknown"
    /// There is no file to compare with.
    case missingFile = "projection_missing_file"
  }

  package let code: Code
  package let message: String
  /// The file that it is about, where there is one.
  package let file: String?
  /// The event that it is about, where there is one.
  package let position: LogPosition?

  package init(_ code: Code, _ message: String, file: String? = nil, position: LogPosition? = nil) {
    self.code = code
    self.message = message
    self.file = file
    self.position = position
  }
}

extension ProjectionError: CustomStringConvertible {
  package var description: String {
    var text = "\(code.rawValue): \(message)"
    if let file { text += " (file \(file))" }
    if let position { text += " (position \(position))" }
    return text
  }
}

/// A read that would have to wait too long, or without end. The API answers 503 with the code `projection_behind`.
package struct ProjectionBehind: Error, Sendable, Hashable {
  package enum Reason: Sendable, Hashable {
    case timedOut
    case cancelled
    /// The projection cannot be kept up to date or is being rebuilt, and is tried again.
    case failing
    /// The projection met something that it cannot apply.
    case halted
    case stopped
  }

  package let projection: String
  package let wanted: LogPosition
  package let reached: LogPosition
  package let reason: Reason
}

extension ProjectionBehind: CustomStringConvertible {
  package var description: String {
    "projection \(projection) has reached \(reached) instead of \(wanted): \(reason)"
  }
}
