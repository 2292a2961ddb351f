import EventLogSimulation
import Testing

@testable import SocketProtocols

@Suite struct EnginePacketSpecs {
  /// Packets and their texts, as the specification shows them.
  static let texts: [(EnginePacket, String)] = [
    (.open(utf8("{}")), "0{}"), (.close, "1"), (.ping([]), "2"), (.ping(EnginePacket.probe), "2probe"),
    (.pong([]), "3"), (.pong(EnginePacket.probe), "3probe"), (.message(.text(utf8("hello"))), "4hello"),
    (.message(.text([])), "4"), (.upgrade, "5"), (.noop, "6"),
  ]

  @Test("a packet is its type and its payload", arguments: texts)
  func text(packet: EnginePacket, text: String) throws {
    #expect(packet.encoded == .text(utf8(text)))
    #expect(try EnginePacket(parsing: utf8(text)[...]) == packet)
  }

  @Test("on a WebSocket, a binary message is its bytes; in text, it is Base64")
  func binary() throws {
    let packet = EnginePacket.message(.binary([1, 2, 3, 4]))
    #expect(packet.encoded == .binary([1, 2, 3, 4]))
    #expect(try EnginePacket(parsing: .binary([1, 2, 3, 4])) == packet)
    #expect(try EnginePacket(parsing: .text(utf8("bAQIDBA=="))) == packet)
  }

  @Test(
    "a malformed packet says why",
    arguments: [
      ("", .empty), ("abc", .unknownType(0x61)), ("7", .unknownType(0x37)), ("1x", .unexpectedPayload),
      ("5probe", .unexpectedPayload), ("6x", .unexpectedPayload), ("bAQ", .invalidBase64), ("bAQ=A", .invalidBase64),
    ] as [(String, EnginePacketError)])
  func malformed(text: String, error: EnginePacketError) {
    #expect(throws: error) { try EnginePacket(parsing: utf8(text)[...]) }
  }

  // MARK: Payloads

  private func decode(
    _ body: String, bytes: Int = 1000, packets: Int = 100
  ) throws(EnginePacketError) -> [EnginePacket] {
    try EnginePayload.decode(utf8(body), maximumBytes: bytes, maximumPackets: packets)
  }

  @Test("a payload separates packets by U+001E")
  func payload() throws {
    let packets: [EnginePacket] = [.message(.text(utf8("hello"))), .ping([]), .message(.binary([1, 2, 3, 4]))]
    #expect(EnginePayload.encode(packets.map(\.encoded)) == utf8("4hello\u{1e}2\u{1e}bAQIDBA=="))
    #expect(try decode("4hello\u{1e}2\u{1e}bAQIDBA==") == packets)
  }

  @Test(
    "one malformed packet makes the whole payload malformed",
    arguments: [
      ("", .empty), ("\u{1e}", .empty), ("4a\u{1e}", .empty), ("\u{1e}4a", .empty), ("4a\u{1e}x", .unknownType(0x78)),
    ] as [(String, EnginePacketError)])
  func malformedPayload(body: String, error: EnginePacketError) {
    #expect(throws: error) { try decode(body) }
  }

  @Test("a payload is valid UTF-8")
  func invalidText() {
    #expect(throws: EnginePacketError.invalidUTF8) {
      try EnginePayload.decode([0x34, 0xff], maximumBytes: 10, maximumPackets: 1)
    }
  }

  @Test("a payload has its limits of bytes and packets")
  func limits() throws {
    #expect(try decode("4abcd", bytes: 5).count == 1)
    #expect(throws: EnginePacketError.payloadTooLarge) { try decode("4abcde", bytes: 5) }
    #expect(try decode("4a\u{1e}4b", packets: 2).count == 2)
    #expect(throws: EnginePacketError.tooManyPackets) { try decode("4a\u{1e}4b\u{1e}4c", packets: 2) }
  }

  @Test("random packets survive a payload and a WebSocket", arguments: 0..<200 as Range<UInt64>)
  func roundTrip(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let packets = (0..<Int.random(in: 1...20, using: &random)).map { _ in random.enginePacket() }
    let body = EnginePayload.encode(packets.map(\.encoded))
    #expect(try EnginePayload.decode(body, maximumBytes: body.count, maximumPackets: packets.count) == packets)
    #expect(body.count + 1 == packets.reduce(0) { $0 + EnginePayload.bytes(of: $1.encoded) })
    for packet in packets { #expect(try EnginePacket(parsing: packet.encoded) == packet) }
  }

  // MARK: Base64

  @Test(
    "Base64 is that of RFC 4648, section 10",
    arguments: [
      ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
      ("foobar", "Zm9vYmFy"),
    ])
  func base64(bytes: String, text: String) {
    var encoded: [UInt8] = []
    Base64.append(utf8(bytes), to: &encoded)
    #expect(encoded == utf8(text))
    #expect(encoded.count == Base64.encodedBytes(bytes.utf8.count))
    #expect(Base64.decode(utf8(text)[...]) == utf8(bytes))
  }

  @Test(
    "any other text is refused",
    arguments: [
      "Z", "Zg", "Zg=", "Zh==", "Zm9=", "====", "Zg==Zg==", "Zm8=Zm8=", "Z===", "Zm9 ", "Zm9\n", "Zm-_", "=Zg=",
    ])
  func notBase64(text: String) {
    #expect(Base64.decode(utf8(text)[...]) == nil)
  }
}

extension SeededRandom {
  mutating func enginePacket() -> EnginePacket {
    switch Int.random(in: 0...7, using: &self) {
    case 0: .open(utf8("{\"sid\":\"a\"}"))
    case 1: .close
    case 2: .ping(Bool.random(using: &self) ? [] : EnginePacket.probe)
    case 3: .pong(utf8(text(3)))
    case 4: .message(.text(utf8(text(.random(in: 0...20, using: &self)))))
    case 5: .message(.binary(bytes(.random(in: 0...20, using: &self))))
    case 6: .upgrade
    default: .noop
    }
  }
}
