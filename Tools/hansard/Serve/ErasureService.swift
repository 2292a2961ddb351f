import ChatDomain
import ChatPrimitives
import ChatService
import EventLog
import EventStore
import Logging
import NIOPosix
import Synchronization

/// Erases deleted accounts while the server runs: what others see, the files, and the records of the log.
final class ErasureService: Sendable {
  /// Calls the record eraser, which exists later than the log, when a segment was sealed.
  final class SealObserver: Sendable {
    private let receiver = Mutex<(@Sendable () -> Void)?>(nil)

    func connect(_ receiver: @escaping @Sendable () -> Void) { self.receiver.withLock { $0 = receiver } }

    func call() { receiver.withLock { $0 }?() }
  }

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

  init(_ chat: ChatService, _ log: EmbeddedLog, _ sealing: SealObserver, logger: Logger) {
    let box = WakeBox()
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
      }, onFinished: { box.wake() },
      onFailure: { error in
        logger.warning(
          "deleted users could not be erased from the log; the server tries again", metadata: ["error": "\(error)"])
      })
    eraser = Eraser(chat, records: Records(eraser: records), logger: logger)
    box.connect(eraser)
    sealing.connect { [records] in records.segmentSealed() }
  }

  /// Wakes the eraser, which is made after the record eraser.
  private final class WakeBox: Sendable {
    private let eraser = Mutex<Eraser?>(nil)

    func connect(_ eraser: Eraser) { self.eraser.withLock { $0 = eraser } }

    func wake() { eraser.withLock { $0 }?.wake() }
  }

  /// How many erasures wait for a legal hold to be lifted.
  var heldCount: Int { eraser.heldCount }

  /// Call it before the log is closed.
  func stop() async throws {
    await eraser.stop()
    // Waits for a thread.
    try await NIOThreadPool.singleton.runIfActive { [records] in records.stop() }
  }
}
