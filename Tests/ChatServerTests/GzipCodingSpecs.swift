import ChatPrimitives
import NIOCore
import Testing

@testable import ChatServer

@Suite struct GzipCodingSpecs {
  @Test(
    "is accepted by name, with a weight above 0",
    arguments: [
      ("gzip", true), ("GZIP", true), ("x-gzip", true), ("br, gzip", true), ("gzip;q=0.001", true),
      ("gzip ; q=1", true),
      ("gzip;q=0", false), ("gzip;q=0.000", false), ("gzip;q=no", false), ("br", false), ("gzipped", false),
      ("*", false),
      ("", false), (";q=1", false), (",", false),
    ])
  func acceptance(header: String, isAccepted: Bool) {
    #expect(GzipCoding.isAccepted(by: header) == isAccepted)
  }

  @Test("without the header, nothing is compressed")
  func absent() {
    #expect(!GzipCoding.isAccepted(by: nil))
  }

  @Test("the result is a gzip member that is shorter, or nil")
  func encoding() throws {
    let text = ByteBuffer(repeating: UInt8(ascii: "a"), count: 10_000)
    let encoded = try #require(GzipCoding.encode(text))
    #expect(encoded.readableBytes < 1000)
    #expect(Array(encoded.readableBytesView.prefix(3)) == [0x1f, 0x8b, 8])
    // The last four bytes are the length of the content.
    #expect(Array(encoded.readableBytesView.suffix(4)) == [0x10, 0x27, 0, 0])
    #expect(GzipCoding.encode(ByteBuffer()) == nil)
    #expect(GzipCoding.encode(ByteBuffer(bytes: (0..<64).map { UInt8($0 * 37 % 251) })) == nil)
  }
}
