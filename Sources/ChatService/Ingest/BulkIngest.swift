package import ChatDomain
package import ChatPrimitives
import ChatProjections
import EventStore

/// What became of one command of many.
package typealias BulkResult = Result<ChatOutcome, ServiceError>

/// Many commands in a row, decided in their order, each durable before its result is known.
extension ChatService {
  /// Commands that are looked up and queued together.
  package static let bulkChunk = 512
  /// How long a full queue is waited for before a command is given up, in tries of `bulkPause`.
  private static let bulkTries = 2_000
  private static let bulkPause = Duration.milliseconds(5)

  /// Queues commands behind all that were queued before. Returns as soon as they are queued, so that the next ones can
  /// be; the results come with `BulkChunk.results()`.
  package func enqueue(_ requests: [Request]) async -> BulkChunk {
    let chunk = BulkChunk(requests: requests, chat: self)
    do throws(ServiceError) {
      try await waitForReadModels()
      let commands = try await prepare(requests)
      for (index, command) in commands.enumerated() { await queue(command, index, chunk) }
    } catch {
      for index in requests.indices { chunk.set(.failure(error), at: index) }
    }
    return chunk
  }

  private func queue(_ command: ChatCommand, _ index: Int, _ chunk: BulkChunk) async {
    for _ in 0..<Self.bulkTries {
      do throws(CommitError) {
        return try pipeline.submit(command) { chunk.take($0, at: index) }
      } catch .overloaded {
        try? await Task.sleep(for: Self.bulkPause)
      } catch {
        return chunk.set(.failure(ServiceError(error)), at: index)
      }
    }
    chunk.set(.failure(.overloaded), at: index)
  }

  /// Holds a bulk writer back while the read models are too far behind, instead of refusing what it sends.
  private func waitForReadModels() async throws(ServiceError) {
    var tries = 0
    while views.maximumLag > Self.projectionLagLimit {
      guard views.halted == nil, tries < Self.bulkTries else { throw .projectionBehind }
      tries += 1
      try? await Task.sleep(for: Self.bulkPause)
    }
  }
}
