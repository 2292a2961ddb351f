package import ChatPrimitives

/// A failure of a read model.
package struct ProjectionError: Error, Sendable, Hashable {
  /// Stable: codes appear in logs and in the output of `replay`.
  package enum Code: String, Sendable, CaseIterable {
    /// The feed did not return the event that follows the checkpoint.
    case feedGap = "projection_feed_gap"
    /// A row has a form that the schema does not allow.
    case damagedRow = "projection_damaged_row"
    /// A file could not be created, opened, renamed or synced.
    case fileFailed = "projection_file_failed"
    /// The file, or whatever has its name, can be neither used nor renamed, for example because it is a mount point.
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
  /// The affected file, if any.
  package let file: String?
  /// The affected event, if any.
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

/// A read that would have to wait too long, or forever. The API responds with 503 and the code `projection_behind`.
package struct ProjectionBehind: Error, Sendable, Hashable {
  package enum Reason: Sendable, Hashable {
    case timedOut
    case cancelled
    /// The projection cannot be updated or is being rebuilt. The server keeps trying.
    case failing
    /// The projection met an event or error that it cannot get past.
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
