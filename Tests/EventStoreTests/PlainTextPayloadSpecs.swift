import Testing

@testable import EventStore

@Suite("The payload of a message with only text")
struct PlainTextPayloadSpecs {
  /// By the description of Protocol Buffers ("Encoding"): the tag of field 1, the length as a varint, the text. A field
  /// with its default value is not written.
  @Test(
    "is what Protocol Buffers would write",
    arguments: [
      ("", []), ("t", [0x0a, 1]), ("tea", [0x0a, 3]), ("\u{0}", [0x0a, 1]), ("차", [0x0a, 3]),
      (String(repeating: "x", count: 127), [0x0a, 0x7f]), (String(repeating: "x", count: 128), [0x0a, 0x80, 1]),
      (String(repeating: "x", count: 16_383), [0x0a, 0xff, 0x7f]),
      (String(repeating: "x", count: 16_384), [0x0a, 0x80, 0x80, 1]),
    ] as [(String, [UInt8])])
  func bytes(text: String, head: [UInt8]) {
    #expect(PlainTextPayload.encoded(text) == head + Array(text.utf8))
  }
}
