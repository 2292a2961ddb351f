import ChatDomain
import ChatPrimitives
package import ChatProjections
package import Logging
import Synchronization

/// Erases what the users of deleted accounts wrote. When the server starts, it continues the erasures that are not
/// complete, so that an interruption loses nothing.
package final class Eraser: Sendable {
  /// The pause after a failure, in milliseconds: after the first one, and at most. It doubles with each failure in a
  /// row.
  private static let firstPauseMilliseconds: Int64 = 1_000
  private static let longestPauseMilliseconds: Int64 = 60_000
  private static let pageLimit = 100

  private let post: AsyncStream<Void>.Continuation
  private let running: Task<Void, Never>
  private let held = HeldErasures()

  /// How many erasures a legal hold made wait when they were last tried. They are tried when a hold is placed or lifted.
  package var heldCount: Int { held.count }

  private final class HeldErasures: Sendable {
    private let users = Mutex<Set<UserID>>([])

    var count: Int { users.withLock { $0.count } }

    func note(_ user: UserID, isHeld: Bool) {
      users.withLock { users in
        if isHeld { users.insert(user) } else { users.remove(user) }
      }
    }
  }

  /// Starts at once.
  /// - Parameters:
  ///   - records: removes the payloads from the log. Nil leaves them, and the erasures incomplete.
  ///   - projections: those whose unused files are removed.
  ///   - closed: those of them that this server does not run.
  ///   - outbox: the outbox of push; nil if push is off.
  ///   - sleep: returns after that many milliseconds, or throws if its task is cancelled.
  package init(
    _ chat: ChatService, records: (any RecordErasing)?, projections: [any Projection.Type] = Projections.all,
    closed: [any Projection.Type] = [], outbox: (any ErasedReadModel)? = nil, logger: Logger,
    sleep: @escaping @Sendable (Int64) async throws -> Void = { try await Task.sleep(for: .milliseconds($0)) }
  ) {
    // One pending wake is enough: it is taken before the erasures are looked up.
    let (mailbox, post) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    self.post = post
    chat.erasureObserver.connect { change in
      if change == .less { records?.withdrawAll() }
      post.yield()
    }
    post.yield()
    running = Task { [held] in
      /// The uploads of the users whose writings were erased since the start.
      var uploads: [UserID: Set<[UInt8]>] = [:]
      for await _ in mailbox {
        var pause = Self.firstPauseMilliseconds
        while !Task.isCancelled {
          do throws(ServiceError) {
            try await Self.eraseAll(chat, records, projections, closed, outbox, &uploads, held, logger)
            break
          } catch {
            if Task.isCancelled { return }
            logger.warning(
              "an erasure could not be completed yet; the server tries again", metadata: ["error": "\(error)"])
            do { try await sleep(pause) } catch { return }
            pause = min(pause * 2, Self.longestPauseMilliseconds)
          }
        }
      }
    }
  }

  /// Tries the erasures again that are not complete.
  package func wake() { post.yield() }

  /// Stops, and returns when requests in flight are done. Call it before the log is closed for new events.
  package func stop() async {
    post.finish()
    running.cancel()
    await running.value
  }

  /// Tries all erasures that are not complete. Those that are still not complete afterwards are tried again when an
  /// account is deleted, when a hold is lifted, and when `wake` is called.
  private static func eraseAll(
    _ chat: ChatService, _ records: (any RecordErasing)?, _ projections: [any Projection.Type],
    _ closed: [any Projection.Type], _ outbox: (any ErasedReadModel)?,
    _ uploads: inout [UserID: Set<[UInt8]>], _ held: HeldErasures, _ logger: Logger
  ) async throws(ServiceError) {
    var failure: ServiceError?
    let pending = try await pendingErasures(chat)
    try await eraseWritings(of: pending, chat, &uploads)
    for (user, life) in pending {
      let erasure = AccountErasure(
        chat: chat, user: user, deleted: life.deleted, records: records, projections: projections, closed: closed,
        outbox: outbox)
      let metadata: Logger.Metadata = ["user": "\(user)"]
      do throws(ServiceError) {
        let outcome = try await erasure.run(uploads[user] ?? [])
        held.note(user, isHeld: outcome == .held)
        switch outcome {
        case .complete:
          uploads[user] = nil
          logger.info("the erasure of a deleted account is complete", metadata: metadata)
        case .held, .unfinished:
          logger.debug("the erasure of a deleted account is not complete yet", metadata: metadata)
        }
        chat.delayedErasures.remove(user)
      } catch {
        // The others need not wait for this one.
        failure = error
        chat.delayedErasures.insert(user)
      }
    }
    if let failure { throw failure }
  }

  /// The oldest deletion first.
  private static func pendingErasures(
    _ chat: ChatService
  ) async throws(ServiceError) -> [(user: UserID, life: LogSurvey.Life)] {
    var pending: [(user: UserID, life: LogSurvey.Life)] = []
    while true {
      let position = pending.last?.life.deleted ?? .origin
      let page = try await chat.accounts { accounts in
        try accounts.pendingErasures(after: position, limit: Self.pageLimit).map { row in
          let registered = try accounts.user(row.user)?.registered.position ?? .first
          return (user: row.user, life: LogSurvey.Life(registered: registered, deleted: row.state.deleted.position))
        }
      }
      guard !page.isEmpty else { return pending }
      pending += page
    }
  }

  /// Erases the writings of the users for whom this was not done since the start of the server.
  private static func eraseWritings(
    of pending: [(user: UserID, life: LogSurvey.Life)], _ chat: ChatService, _ uploads: inout [UserID: Set<[UInt8]>]
  ) async throws(ServiceError) {
    let new = pending.filter { uploads[$0.user] == nil }
    guard !new.isEmpty else { return }
    do throws(ServiceError) {
      let lives = Dictionary(uniqueKeysWithValues: new.map { ($0.user, $0.life) })
      uploads.merge(try await WritingsErasure(chat: chat, users: lives).run()) { $1 }
    } catch {
      for (user, _) in new { chat.delayedErasures.insert(user) }
      throw error
    }
  }
}
