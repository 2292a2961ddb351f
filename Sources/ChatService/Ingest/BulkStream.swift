package import ChatDomain
package import ChatPrimitives
import ChatProjections
import EventStore
import Synchronization

/// A sequence of commands that are decided in order. Each is durable before its result is known.
///
/// The first command that fails because of the server ends the sequence: it and all that follow have the same result,
/// and none that follows is decided. If the sender sends the rest again, everything is done once and in order.
package final class BulkStream: Sendable {
  /// Commands that are looked up and queued together.
  package static let chunkCommands = 512
  /// How long to wait for a full queue, or for read models that are too far behind, before the sequence is ended.
  private static let timeout = Duration.seconds(10)
  /// The time between two attempts.
  private static let pause = Duration.milliseconds(5)

  private let chat: ChatService
  private let order = CommandOrder()
  private let ending = Mutex<ServiceError?>(nil)

  package init(chat: ChatService) {
    self.chat = chat
  }

  /// Why no more commands are accepted; nil while the sequence continues.
  package var ended: ServiceError? {
    if let error = ending.withLock({ $0 }) { return error }
    return order.isBroken ? .overloaded : nil
  }

  /// Ends the sequence for a reason that its sender has found.
  package func end(_ error: ServiceError) {
    ending.withLock { $0 = $0 ?? error }
  }

  /// Queues commands after all earlier ones and returns as soon as they are queued, so that the next ones can be
  /// queued. `BulkResults.results()` has the results. Must be called by one task at a time.
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
        guard ContinuousClock.now - since < Self.timeout else { throw .overloaded }
        try await pause()
        // The lookups may have become outdated while the queue was full.
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

  /// Waits while the read models are too far behind, instead of refusing the commands.
  private func waitForReadModels() async throws(ServiceError) {
    if let ended { throw ended }
    let deadline = ContinuousClock.now + Self.timeout
    while chat.writesArePaused {
      guard chat.readModels.halted == nil, ContinuousClock.now < deadline else { throw .projectionBehind }
      try await pause()
    }
  }

  /// Returns at once if the task is cancelled, because then nobody waits for the rest.
  private func pause() async throws(ServiceError) {
    do {
      try await Task.sleep(for: Self.pause)
    } catch {
      throw .shuttingDown
    }
  }
}
