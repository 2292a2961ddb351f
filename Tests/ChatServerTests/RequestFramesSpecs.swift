import NIOCore
import Testing

@testable import ChatServer

@Suite("Where the requests of a connection end")
struct RequestFramesSpecs {
  private static let get = "GET / HTTP/1.1\r\nHost: h\r\n\r\n"
  private static let post = "POST / HTTP/1.1\r\ncontent-LENGTH:  4\r\nHost: h\r\n\r\nbody"

  /// Whether the decoder is known to be between two requests after each piece.
  private static func isBetween(_ pieces: String...) -> [Bool] {
    var frames = RequestFrames()
    return pieces.map { piece in
      frames.pass(ByteBuffer(string: piece))
      return frames.isBetween
    }
  }

  @Test("is known for heads in one piece, with bodies in any")
  func known() {
    #expect(RequestFrames().isBetween)
    #expect(Self.isBetween(Self.get, Self.post, Self.get) == [true, true, true])
    let head = String(Self.post.dropLast(4))
    #expect(Self.isBetween(head, "b", "ody", Self.get) == [false, false, true, true])
  }

  @Test(
    "is never known again after anything else",
    arguments: [
      get + get, get + "G", post + "x", "GET / HTTP/1.1\r\n", "x", "GET / HTTP/1.1\nHost: h\n\n",
      "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      "POST / HTTP/1.1\r\nContent-Length: 4\r\nContent-Length: 4\r\n\r\nbody",
      "POST / HTTP/1.1\r\nContent-Length: x\r\n\r\nbody", "POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\nbody",
    ])
  func unknown(piece: String) {
    #expect(Self.isBetween(piece, Self.get) == [false, false])
  }

  @Test("is unknown if more than the body follows")
  func tooLong() {
    #expect(Self.isBetween(String(Self.post.dropLast(4)), "body" + Self.get, Self.get) == [false, false, false])
  }
}
