import ChatPrimitives
import ChatProtocol
import NIOCore
import NIOPosix
import Testing

@testable import ChatServer

@Suite("where bodies are decoded")
struct BodyDecodingSpecs {
  /// A body that records the thread on which it is decoded.
  private struct Body: RequestObject {
    enum CodingKeys: String, CodingKey, CaseIterable {
      case text
    }

    let thread: String

    init(from decoder: any Decoder) throws {
      thread = try ThreadName.current()
    }

    func encode(to encoder: any Encoder) throws {}
  }

  private static func buffer(bytes: Int) -> ByteBuffer {
    let text = String(repeating: "x", count: bytes - #"{"text":""}"#.utf8.count)
    return ByteBuffer(string: #"{"text":"\#(text)"}"#)
  }

  @Test("a long body is decoded on a thread that serves no connections, a short one at once", arguments: [0, 1])
  func threads(more: Int) async throws {
    let buffer = Self.buffer(bytes: Limits.inlineDecodingBytes + more)
    #expect(buffer.readableBytes == Limits.inlineDecodingBytes + more)
    let thread = try await JSONBody.decode(Body.self, from: buffer).thread
    let pool = try await NIOThreadPool.singleton.runIfActive { try ThreadName.current() }
    #expect((thread == pool) == (more > 0))
  }
}
