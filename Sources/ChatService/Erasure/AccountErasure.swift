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

  private static let portion = BulkStream.chunkCommands
  /// How long the read models may take to apply a step. After that, the erasure begins again.
  private static let readModelMilliseconds = 600_000
  /// How long readers may keep removed rows in the files, in milliseconds. After that, the erasure is tried again.
  private static let cleanMilliseconds = 60_000
  /// The time between two looks at what the read models remove in the background.
  private static let pause = Duration.milliseconds(100)

  let chat: ChatService
  let user: UserID
  let deleted: LogPosition
  let registered: LogPosition
  /// Nil leaves the log as it is, and the erasure incomplete.
  let records: (any RecordErasing)?
  /// Those whose unused files are removed.
  let projections: [any Projection.Type]
  /// Those of them that this server does not run. Their files are removed.
  let closed: [any Projection.Type]
  let outbox: (any ErasedReadModel)?

  /// What others see goes first. The files and the log wait while a legal hold is in force.
  /// - Parameter uploads: the SHA-256 of each file that the user uploaded, if an earlier run has erased the writings. No
  ///   later event adds to them.
  func run(_ uploads: inout Set<[UInt8]>?) async throws(ServiceError) -> Outcome {
    let files: Set<[UInt8]>
    if let uploads { files = uploads } else { files = try await eraseWritings() }
    uploads = files
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

  /// Removes messages and reactions.
  /// - Returns: the SHA-256 of each file that the user uploaded.
  private func eraseWritings() async throws(ServiceError) -> Set<[UInt8]> {
    var files: Set<[UInt8]> = []
    var takenBack: Set<MessageKey> = []
    let survey = LogSurvey(chat: chat, user: user, registered: registered, deleted: deleted)
    try await survey.forEachSlice { (events) async throws(ServiceError) in
      for recorded in events {
        if case .user(_, .media(.uploaded(_, let media, _))) = recorded.event { files.insert(media.hash) }
      }
      try await perform(events.compactMap { erasing($0.event, &takenBack) })
    }
    return files
  }

  /// Nil for an event without a message or a reaction.
  /// - Parameter takenBack: the messages to which the user took a reaction back.
  private func erasing(_ event: ChatEvent, _ takenBack: inout Set<MessageKey>) -> ChatService.Request? {
    switch event {
    case .room(let room, .messages(.sent(let id, user, _, _))):
      chat.erasing(.room(room, .erasing(.message(id, of: user, after: deleted))))
    case .room(let room, .annotations(.reactionAdded(let id, _, user, let emoji, _))):
      chat.erasing(.room(room, .erasing(.reactions(id, emoji: emoji, of: user))))
    case .room(let room, .annotations(.reactionRemoved(let id, _, user, _))):
      takenBack.insert(MessageKey(room: room, message: id)).inserted
        ? chat.erasing(.room(room, .erasing(.reactions(id, emoji: nil, of: user)))) : nil
    case .user, .room, .workspace, .server: nil
    }
  }

  /// Removes the files that no other user has uploaded, also if nothing refers to such an upload yet. An upload that
  /// nobody needs is collected later, like any other.
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

  /// Performs many commands. Those that a later attempt finds done record nothing, except for reactions that were taken back. What is gone, because its room was
  /// deleted, need not be erased.
  private func perform(_ requests: [ChatService.Request]) async throws(ServiceError) {
    var rest = requests[...]
    while !rest.isEmpty {
      let portion = Array(rest.prefix(Self.portion))
      rest = rest.dropFirst(portion.count)
      for result in await BulkStream(chat: chat).enqueue(portion).results() {
        switch result {
        case .success, .failure(.rejected(.roomNotFound)), .failure(.rejected(.messageNotFound)): break
        case .failure(let error): throw error
        }
      }
    }
  }
}
