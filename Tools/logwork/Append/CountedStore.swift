import ChatPrimitives
import EventLog
import Synchronization

/// A log that counts the appended blocks. Each block costs one sync.
final class CountedStore: BlockStore {
  private let log: EmbeddedLog
  private let appended = Atomic<Int>(0)

  init(_ log: EmbeddedLog) {
    self.log = log
  }

  var lastTime: Timestamp { log.lastTime }

  var syncs: Int { appended.load(ordering: .relaxed) }
  var identity: LogIdentity { log.identity }
  var head: LogPosition { log.head }

  func block(containing position: LogPosition) throws(LogError) -> Block { try log.block(containing: position) }

  func append(_ block: BlockBuilder) throws(LogError) {
    try log.append(block)
    appended.add(1, ordering: .relaxed)
  }

  func noteIdle() throws(LogError) { try log.noteIdle() }
  func close() throws(LogError) { try log.close() }
}
