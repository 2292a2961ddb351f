import ChatDomain
import ChatPrimitives
import ChatProjections
import EventStore
import MediaFiles

/// The erasure of one deleted account. Every step can be repeated, so an erasure that was interrupted begins again.
struct AccountErasure {
  enum Outcome {
    case complete
    /// A legal hold makes it wait.
    case held
    /// The records are still in the log.
    case unfinished
  }

  /// How long the read models may take to apply a step, in milliseconds. After that, the erasure begins again.
  private static let readModelMilliseconds = 600_000
  /// How long readers may keep removed rows in the files, in milliseconds. After that, the erasure is tried again.
  private static let cleanMilliseconds = 60_000
  /// The time between two looks at what the read models remove in the background.
  private static let pause = Duration.milliseconds(100)

  let chat: ChatService
  let user: UserID
  let deleted: LogPosition
  /// Nil leaves the log as it is, and the erasure incomplete.
  let records: (any RecordErasing)?
  /// Those whose unused files are removed.
  let projections: [any Projection.Type]
  /// Those of them that this server does not run. Their files are removed.
  let closed: [any Projection.Type]
  let outbox: (any ErasedReadModel)?

  /// Call it when `WritingsErasure` has removed what others see. The files and the records of the log are kept while a
  /// legal hold is in force.
  /// - Parameter files: the SHA-256 of each file that the user uploaded.
  func run(_ files: Set<[UInt8]>) async throws(ServiceError) -> Outcome {
    try await waitForReadModels()
    guard try await !isHeld(), try await removeFiles(files) else { return .held }
    guard let records else { return .unfinished }
    guard let erasure = try await records.erasedRecords(of: user, deleted: deleted) else {
      // A hold may have been placed before the request and after the check above. Later ones withdraw it by themselves.
      guard try await isHeld() else { return .unfinished }
      records.withdrawAll()
      return .held
    }
    _ = try await chat.perform(chat.erasing(.user(user, .deletion(.completeErasure(erasure)))))
    return .complete
  }

  private func isHeld() async throws(ServiceError) -> Bool {
    try await chat.isHeld(user, under: try await chat.legalHolds(after: nil, limit: Limits.legalHolds).holds)
  }

  // MARK: - Steps

  /// Removes the user's files, except those that another user has uploaded too, even if nothing refers to that upload
  /// yet. An upload that nothing refers to is collected later, like any other.
  /// - Returns: false if a legal hold was placed meanwhile.
  private func removeFiles(_ hashes: Set<[UInt8]>) async throws(ServiceError) -> Bool {
    for bytes in hashes {
      if try await isHeld() { return false }
      guard let hash = ContentHash(bytes) else { continue }
      _ = try await chat.failing {
        try await chat.media.remove(hash) { try await chat.mediaRows { try !$0.isKnown(bytes) } }
      }
    }
    return true
  }

  /// Waits until no read model has anything of the user, also not in its write-ahead log, and removes the files of read
  /// models that are no longer used.
  private func waitForReadModels() async throws(ServiceError) {
    let (models, head) = (chat.readModels, chat.store.head)
    try await chat.failing {
      try await models.waitForAll(head, timeoutMilliseconds: Self.readModelMilliseconds)
      try await outbox?.waitUntilApplied(head, timeoutMilliseconds: Self.readModelMilliseconds)
      try models.removeUnusedFiles(of: projections, closed: closed)
    }
    let deadline = ContinuousClock.now + .milliseconds(Self.cleanMilliseconds)
    try await wait(until: deadline) { try await models.search.read { try $0.isClean() } }
    try await wait(until: deadline) { try await models.emptyWriteAheadLogs() }
    if let outbox { try await wait(until: deadline) { try await outbox.emptyWriteAheadLog() } }
  }

  private func wait(
    until deadline: ContinuousClock.Instant, for isClean: @Sendable () async throws -> Bool
  ) async throws(ServiceError) {
    while try await !chat.failing(isClean) {
      guard ContinuousClock.now < deadline else {
        throw .failed("readers kept removed rows in the files of the read models for \(Self.cleanMilliseconds) ms")
      }
      try await chat.failing { try await Task.sleep(for: Self.pause) }
    }
  }
}
