import HTTPTypes
import Hummingbird
import NIOCore
import Synchronization

extension ResponseBody {
  /// All bytes of a body that is in memory.
  func collected() async throws -> ByteBuffer {
    let collector = BodyCollector()
    try await write(collector)
    return collector.bytes
  }
}

/// Collects a body. One task writes it.
private final class BodyCollector: ResponseBodyWriter, Sendable {
  private let collected = Mutex(ByteBuffer())

  var bytes: ByteBuffer { collected.withLock { $0 } }

  func write(_ buffer: ByteBuffer) async throws {
    collected.withLock { collected in
      // A body of one piece is not copied.
      if collected.readableBytes == 0 { collected = buffer } else { collected.writeImmutableBuffer(buffer) }
    }
  }

  func finish(_ trailingHeaders: HTTPFields?) async throws {}
}
