import ChatDomain
import ChatPrimitives
import ChatProjections
import ChatPush
import ChatService
import EventLog
import EventStore
import Logging
import NIOPosix

/// Erases deleted accounts while the server runs: what others see, the files, and the records of the log. It connects the
/// `Eraser`, which knows the chat, with the `RecordEraser`, which knows the log.
final class ErasureService: Sendable {
  /// The `RecordEraser` in the form in which the `Eraser` uses it.
  private struct Records: RecordErasing {
    let eraser: RecordEraser

    func erasedRecords(of user: UserID, deleted deletion: LogPosition) async throws(ServiceError) -> Erasure? {
      eraser.erased(user, deleted: deletion).map {
        Erasure(deletion: deletion, erasedRecords: $0.erased, keptRecords: $0.kept)
      }
    }

    func withdrawAll() { eraser.withdrawAll() }
  }

  private let records: RecordEraser
  private let eraser: Eraser

  /// - Parameters:
  ///   - sealing: the log calls it when a segment was sealed.
  ///   - push: nil if push is off. Then the outbox is removed; it is built again when push is on.
  init(_ chat: ChatService, _ log: EmbeddedLog, _ sealing: LateReceiver, _ push: PushService?, logger: Logger) {
    let finishing = LateReceiver()
    records = RecordEraser(
      log,
      roll: {
        // Only the writer's thread may write to the log.
        chat.runOnWriter {
          do {
            try log.roll()
          } catch {
            logger.warning("a segment could not be ended for an erasure", metadata: ["error": "\(error)"])
          }
        }
      }, onFinished: { finishing.call() },
      onFailure: { error in
        logger.warning(
          "deleted users could not be erased from the log; the server tries again", metadata: ["error": "\(error)"])
      })
    eraser = Eraser(
      chat, records: Records(eraser: records), projections: Projections.all + [PushProjection.self],
      closed: push == nil ? [PushProjection.self] : [], outbox: push, logger: logger)
    finishing.connect { [eraser] in eraser.wake() }
    sealing.connect { [records] in records.segmentSealed() }
  }

  /// How many erasures wait for a legal hold to be lifted.
  var heldCount: Int { eraser.heldCount }

  /// Call it before the log is closed.
  func stop() async throws {
    await eraser.stop()
    // Stopping blocks until the thread of the pass has ended.
    try await NIOThreadPool.singleton.runIfActive { [records] in records.stop() }
  }
}
