package import ChatPrimitives
import EventLog
import GRDB

/// Why a read model cannot follow the log.
package struct ProjectionFault: Error, Sendable, Hashable {
  /// What the runner does about it.
  package enum Kind: String, Sendable, CaseIterable {
    /// The disk is full or failing, or another process holds the file: the same step is tried again.
    case temporary
    /// The file is damaged: it is moved aside and rebuilt from the log.
    case damaged
    /// An event cannot be read or applied. Another attempt would fail in the same way.
    case permanent
  }

  package let projection: String
  /// The file's name without its folder, because `/readyz` shows it to anyone.
  package let file: String
  package let kind: Kind
  /// The last event that the read model has applied.
  package let position: LogPosition
  package let message: String
  /// What an operator can do.
  package let advice: String
}

extension ProjectionFault: CustomStringConvertible {
  /// Anyone can see this text, so it contains no folder and nothing from an event.
  package var description: String {
    let reason = kind == .permanent ? "an event cannot be read or applied; the server log says why" : message
    return "the read model \(projection) (\(file)) cannot continue after position \(position): \(reason). \(advice)"
  }

  static func message(of error: any Error) -> String {
    // Omits the statement and the path, which GRDB and `ProjectionError` add to their descriptions.
    if let error = error as? DatabaseError {
      return "SQLite error \(error.extendedResultCode.rawValue), \(error.message ?? "unknown")"
    }
    return (error as? ProjectionError)?.message ?? "\(error)"
  }
}

extension ProjectionFault.Kind {
  /// - Parameter error: thrown while the file was opened or written.
  init(following error: any Error) {
    if let fault = error as? ProjectionFault {
      self = fault.kind
    } else if let error = error as? DatabaseError {
      // SQLITE_ERROR means "no such table" and the like. The program's statements are correct, so the file lacks a part
      // of its schema.
      self = Self(database: error) ?? (error.resultCode == .SQLITE_ERROR ? .damaged : .permanent)
    } else if let error = error as? ProjectionError {
      self = Self(projection: error.code)
    } else if let error = error as? LogError {
      self = Self(log: error.code)
    } else {
      self = .permanent
    }
  }

  /// - Parameter error: thrown by a query.
  /// - Returns: nil if the error says nothing about the file, for example if the query itself is wrong.
  init?(reading error: any Error) {
    if let error = error as? DatabaseError, let kind = Self(database: error) {
      self = kind
    } else if let error = error as? ProjectionError, error.code == .damagedRow {
      self = .damaged
    } else {
      return nil
    }
  }

  /// <https://www.sqlite.org/rescode.html>
  private static let damaging: [ResultCode] = [.SQLITE_CORRUPT, .SQLITE_NOTADB]
  private static let passing: [ResultCode] = [
    .SQLITE_FULL, .SQLITE_IOERR, .SQLITE_BUSY, .SQLITE_LOCKED, .SQLITE_CANTOPEN, .SQLITE_READONLY, .SQLITE_PERM,
    .SQLITE_PROTOCOL, .SQLITE_NOMEM, .SQLITE_INTERRUPT,
  ]

  private init?(database error: DatabaseError) {
    if error.extendedResultCode == PageChecksums.mismatch || Self.damaging.contains(error.resultCode) {
      self = .damaged
    } else if Self.passing.contains(error.resultCode) {
      self = .temporary
    } else {
      return nil
    }
  }

  private init(projection code: ProjectionError.Code) {
    switch code {
    case .damagedRow, .foreignFile: self = .damaged
    case .fileFailed, .cannotMoveAside: self = .temporary
    case .feedGap, .unknownProjection, .missingFile: self = .permanent
    }
  }

  private init(log code: LogError.Code) {
    switch code {
    case .io, .fullDisk, .busy: self = .temporary
    case .corrupt, .poisoned, .locked, .outOfRange, .tooLarge, .wrongVersion, .missing, .detached, .invalidRecord,
      .outOfOrder, .closed:
      self = .permanent
    }
  }

  /// What an operator can do about an error of this kind.
  func advice(on error: any Error) -> String {
    switch self {
    case .damaged:
      return "The file is moved aside and rebuilt from the log; if this happens again, check the disk."
    case .permanent:
      return "Run the version that wrote the log, or rebuild the read model with hansard replay, and restart."
    case .temporary:
      let code = (error as? DatabaseError)?.resultCode
      if code == .SQLITE_FULL { return "Free some disk space; the server tries again by itself." }
      if code == .SQLITE_BUSY || code == .SQLITE_LOCKED {
        return "Another process uses the file: end that process; the server tries again by itself."
      }
      if (error as? ProjectionError)?.code == .cannotMoveAside {
        return "Unmount or remove it, or correct the permissions of the folder; the server tries again by itself."
      }
      return "Check the disk and the permissions of the folder; the server tries again by itself."
    }
  }
}
