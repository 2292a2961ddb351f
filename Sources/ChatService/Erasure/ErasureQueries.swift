package import ChatDomain
package import ChatPrimitives
package import ChatProjections

/// How far the erasure of a deleted account is.
package enum ErasureProgress: Sendable, Hashable {
  /// A legal hold makes it wait. Nobody sees what the user wrote any more, but the log and the files still contain it.
  case held
  case running
  /// The last attempt failed. The server tries again.
  case delayed
  case complete(Erasure)
}

/// The erasures of all deleted accounts, for operators.
package struct ErasureStatus: Sendable, Hashable {
  /// Those that are not complete, up to `ChatService.countedErasures`.
  package var pending: Int
  /// When the last one was completed; nil if none was.
  package var lastCompleted: Timestamp?

  package init(pending: Int, lastCompleted: Timestamp?) {
    self.pending = pending
    self.lastCompleted = lastCompleted
  }
}

extension ChatService {
  /// How many pending erasures are counted at most.
  package static let countedErasures = 100_000

  /// - Throws: if the read model cannot be read now.
  package func erasureStatus() async throws -> ErasureStatus {
    let remembered = erasureObserver.lastCompleted
    let (pending, found) = try await readModels.accounts.read { accounts in
      (
        try accounts.pendingErasureCount(atMost: Self.countedErasures),
        try remembered ?? accounts.lastErasureTime()
      )
    }
    // The next status need not look for it again.
    if let found { erasureObserver.remember(completedAt: found) }
    return ErasureStatus(pending: pending, lastCompleted: found)
  }

  /// - Throws: `userNotFound` if the account was not deleted.
  package func erasure(
    of user: UserID
  ) async throws(ServiceError) -> (row: ErasureRow, progress: ErasureProgress) {
    let found = try await accounts { accounts in
      try accounts.erasure(of: user).map { ($0, try accounts.legalHolds(limit: Limits.legalHolds).holds) }
    }
    guard let (row, holds) = found else { throw .rejected(.userNotFound) }
    return (row, try await progress(of: row, under: holds))
  }

  /// The newest deletion first.
  package func erasures(
    after cursor: LogPosition?, limit: Int
  ) async throws(ServiceError) -> (rows: [(row: ErasureRow, progress: ErasureProgress)], next: LogPosition?) {
    let (page, holds) = try await accounts { accounts in
      (try accounts.erasures(after: cursor, limit: limit), try accounts.legalHolds(limit: Limits.legalHolds).holds)
    }
    var rows: [(row: ErasureRow, progress: ErasureProgress)] = []
    for row in page.erasures { rows.append((row, try await progress(of: row, under: holds))) }
    return (rows, page.next)
  }

  private func progress(
    of row: ErasureRow, under holds: [LegalHolds.Entry]
  ) async throws(ServiceError) -> ErasureProgress {
    if let erasure = row.erasure { return .complete(erasure) }
    if try await isHeld(row.user, under: holds) { return .held }
    return delayedErasures.contains(row.user) ? .delayed : .running
  }

  /// Whether a hold in force is on the user, or on a room of which the user was ever a member. A deleted room may be held
  /// too; the read models have no members of it, so the log is read.
  func isHeld(_ user: UserID, under holds: [LegalHolds.Entry]) async throws(ServiceError) -> Bool {
    var held: [RoomID] = []
    for entry in holds {
      switch entry.hold.target {
      case .user(let target): if target == user { return true }
      case .room(let room): held.append(room)
      }
    }
    guard !held.isEmpty else { return false }
    let (isMember, deleted) = try await rooms { [held] rooms in
      (try held.contains { try rooms.hasBeenMember(user, of: $0) }, try held.filter { try rooms.isDeleted($0) })
    }
    if isMember { return true }
    return try await heldRooms.contains(user, in: deleted, of: self)
  }

  /// The newest first.
  package func legalHolds(after cursor: LogPosition?, limit: Int) async throws(ServiceError) -> LegalHoldPage {
    try await accounts { try $0.legalHolds(after: cursor, limit: limit) }
  }

  /// Nil if the target is not held.
  package func legalHold(on target: LegalHold.Target) async throws(ServiceError) -> LegalHolds.Entry? {
    try await accounts { try $0.legalHold(on: target) }
  }
}
