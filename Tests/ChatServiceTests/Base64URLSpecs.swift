import Testing

@testable import ChatService

@Suite("Base64 for URLs")
struct Base64URLSpecs {
  @Test(
    "texts of RFC 4648, section 10, without padding",
    arguments: [
      ("", ""), ("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v"), ("foob", "Zm9vYg"), ("fooba", "Zm9vYmE"),
      ("foobar", "Zm9vYmFy"),
    ])
  func vectors(text: String, encoded: String) {
    #expect(Base64URL.encode(Array(text.utf8)) == encoded)
    #expect(Base64URL.decode(encoded, atMost: text.utf8.count) == Array(text.utf8))
  }

  @Test("every byte in every place comes back")
  func everyByte() {
    for byte in UInt8.min...UInt8.max {
      for bytes in [[byte], [0, byte], [0, 255, byte]] {
        #expect(Base64URL.decode(Base64URL.encode(bytes), atMost: bytes.count) == bytes)
      }
    }
    #expect(Base64URL.encode([0xfb, 0xff, 0xbf]) == "-_-_")
  }

  @Test(
    "whatever `encode` does not make is refused",
    arguments: ["Zg==", "Zh", "Z", "+/+/", "Zm9v\n", " Zm9v", "Zm8=", "Zm9v=", "Zm9vé", "Zm\u{0}v", "----="])
  func notCanonical(text: String) {
    #expect(Base64URL.decode(text, atMost: 100) == nil)
  }

  @Test("more bytes than the limit are refused", arguments: 0..<10)
  func limit(length: Int) {
    let text = Base64URL.encode(Array(repeating: 251, count: length))
    #expect(Base64URL.decode(text, atMost: length) != nil)
    if length > 0 { #expect(Base64URL.decode(text, atMost: length - 1) == nil) }
  }
}
