package import ChatDomain
package import ChatPrimitives
import ChatProjections
import EventStore
import Synchronization

/// Many commands in a row, decided in their order, each durable before its result is known.
///
/// The first command that fails because of the machine ends the row: it and all that follow have the same result, and
/// none that follows is decided. So whoever sends the rest again has everything done once and in order.
package final class BulkStream: Sendable {
  /// Commands that are looked up and queued together.
  package static let chunkCommands = 512
  /// How long a full queue, or read models that are too far behind, are waited for before the row is ended.
  private static let patience = Duration.seconds(10)
  /// Between two tries.
  private static let pause = Duration.milliseconds(5)

  private let chat: ChatService
  private let order = CommandOrder()
  private let ending = Mutex<ServiceError?>(nil)

  package init(chat: ChatService) {
    self.chat = chat
  }

  /// Why nothing more is taken; nil while the row goes on.
  package var ended: ServiceError? {
    if let error = ending.withLock({ $0 }) { return error }
    return order.isBroken ? .overloaded : nil
  }

  /// Ends the row for a reason that its sender has found.
  package func end(_ error: ServiceError) {
    ending.withLock { $0 = $0 ?? error }
  }

  /// Queues commands behind all that were queued before. Returns as soon as they are queued, so that the next ones can
  /// be; the results come with `BulkResults.results()`. For one task at a time.
  package func enqueue(_ requests: [ChatService.Request]) async -> BulkResults {
    let chunk = BulkResults(count: requests.count)
    var queued = 0
    do throws(ServiceError) {
      try await waitForReadModels()
      try await queue(requests, chunk, &queued)
    } catch {
      end(error)
      for index in queued..<requests.count { chunk.set(.failure(error), at: index) }
    }
    return chunk
  }

  private func queue(
    _ requests: [ChatService.Request], _ chunk: BulkResults, _ queued: inout Int
  ) async throws(ServiceError) {
    guard !requests.isEmpty else { return }
    var fullSince: ContinuousClock.Instant?
    var commands = try await prepare(requests[...])
    while queued < requests.count {
      if let ended { throw ended }
      let index = queued
      do throws(CommitError) {
        try chat.pipeline.submit(commands[index]) { [chat, hold = requests[index].hold] in
          chunk.take($0, at: index, chat)
          withExtendedLifetime(hold) {}
        }
        queued += 1
        fullSince = nil
      } catch .overloaded {
        let since = fullSince ?? ContinuousClock.now
        fullSince = since
        guard ContinuousClock.now - since < Self.patience else { throw .overloaded }
        try await rest()
        // What was looked up has aged while the queue was full.
        commands.replaceSubrange(index..., with: try await prepare(requests[index...]))
      } catch {
        throw ServiceError(error)
      }
    }
  }

  private func prepare(_ requests: ArraySlice<ChatService.Request>) async throws(ServiceError) -> [ChatCommand] {
    var commands = try await chat.prepare(Array(requests))
    for index in commands.indices { commands[index].order = order }
    return commands
  }

  /// Holds the row back while the read models are too far behind, instead of refusing what it brings.
  private func waitForReadModels() async throws(ServiceError) {
    if let ended { throw ended }
    let deadline = ContinuousClock.now + Self.patience
    while chat.writesArePaused {
      guard chat.views.halted == nil, ContinuousClock.now < deadline else { throw .projectionBehind }
      try await rest()
    }
  }

  /// Leaves at once when the task is cancelled: then nobody waits for the rest.
  private func rest() async throws(ServiceError) {
    do {
      try await Task.sleep(for: Self.pause)
    } catch {
      throw .shuttingDown
    }
  }
}
