import SocketProtocols

/// Samples of what clients send.
enum SocketSeeds {
  /// Frames with their masks removed, as `fuzzFrames` reads them.
  static let frames: [(name: String, bytes: [UInt8])] = [
    ("text", frame(0x81, "hello")), ("binary", frame(0x82, "\u{1}\u{2}")),
    ("fragments", frame(0x01, "a€") + frame(0x89, "ping") + frame(0x00, "b") + frame(0x80, "😀")),
    ("close", frame(0x88, [0x03, 0xe8] + "bye".utf8)), ("close-empty", frame(0x88, "")),
    ("split-character", frame(0x01, [0xe2, 0x82]) + frame(0x80, [0xac])), ("pong", frame(0x8a, "")),
  ]

  /// Payloads, and bytes that select requests of a session.
  static let engine: [(name: String, bytes: [UInt8])] = [
    ("payload", Array("4hello\u{1e}3\u{1e}bAQIDBA==\u{1e}1".utf8)), ("probe", Array("2probe".utf8)),
    ("poll", [0, 0, 9, 1, 7, 1, 3, 4, 3] + "4hi".utf8), ("close", [0, 0, 3, 4, 1] + "1".utf8 + [0]),
    ("upgrade", [0, 6, 7, 6] + "2probe".utf8 + [9, 1, 7, 7, 1] + "5".utf8 + [7, 3] + "4hi".utf8),
    ("ping", [1, 11, 25, 7, 1] + "3".utf8 + [11, 25, 11, 20]),
  ]

  /// Payloads of messages.
  static let socket: [(name: String, bytes: [UInt8])] = [
    ("connect", Array("40{\"token\":\"123\"}\u{1e}42[\"message\",1,\"2\",{\"3\":[true]}]\u{1e}41".utf8)),
    ("namespace", Array("40/custom,\u{1e}42/custom,12[\"a\",null]\u{1e}43/custom,1[]\u{1e}41/custom".utf8)),
    (
      "binary",
      Array("40\u{1e}451-7[\"\\u00e9\",{\"_placeholder\":true,\"num\":0}]\u{1e}bAQID\u{1e}461-8[]\u{1e}b".utf8)
    ), ("error", Array("44{\"message\":\"no\"}".utf8)),
  ]

  private static func frame(_ first: UInt8, _ payload: String) -> [UInt8] { frame(first, Array(payload.utf8)) }

  private static func frame(_ first: UInt8, _ payload: [UInt8]) -> [UInt8] {
    [first, 0x80 | UInt8(payload.count)] + payload
  }
}
