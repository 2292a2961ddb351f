import ChatDomain
import ChatPrimitives
import ChatProtocol
import NIOCore
import Testing

@testable import ChatServer

@Suite("A body and a receipt with only a text")
struct PlainBodySpecs {
  private static let plain = [
    #"{"text":"hello"}"#, " {\t\"text\" :\r\n \"a b\" } \n", #"{"text":""}"#, #"{"text":" {}[],:'/~ "}"#,
    #"{"text":"Grüße, 世界 👋🏽"}"#, "{\"text\":\"a\u{7f}\u{85}\u{2028}\u{feff}b\"}", marked(30),
  ]

  /// A letter with so many combining marks, of which 30 are allowed.
  private static func marked(_ count: Int) -> String { "{\"text\":\"a" + String(repeating: "\u{301}", count: count) + "\"}" }

  /// Some are valid, but all are left to the decoder.
  private static let others = [
    "", "{", "{}", "hello", #"{"text":"a"#, #"{"text":"a""#, #"{"text":"a"}x"#, #"{"text":"a",}"#, #"{"text":1}"#,
    #"{"text":"a","text":"b"}"#, #"{"text":"a","type":"b"}"#, #"{"Text":"a"}"#, #"{"text":"a\n"}"#,
    "{\"text\":\"a\u{1}b\"}", #"{ text:"a"}"#, #"{"text""a"}"#, #"["text","a"]"#,
    "\u{feff}{\"text\":\"a\"}", marked(31), "{\"text\":\u{b}\"a\"}", #"{"te\u0078t":"a"}"#, #"{"text":null}"#, #"{"text":"a"}}"#,
  ]

  @Test("is read as the decoder reads it", arguments: plain)
  func isRead(body: String) throws {
    let buffer = ByteBuffer(string: body)
    let text = try #require(PlainBody.text(in: buffer))
    #expect(try JSONBody.decodeNow(SendMessageRequest.self, from: buffer).message() == .plain(text))
  }

  @Test("is the only body that is read without the decoder", arguments: others)
  func isLeft(body: String) {
    #expect(PlainBody.text(in: ByteBuffer(string: body)) == nil)
  }

  @Test("is left to the decoder if it is not UTF-8", arguments: [[0x80], [0xc0, 0xaf], [0xed, 0xa0, 0x80], [0xf0, 0x9f]])
  func isInvalid(text: [UInt8]) {
    let body = ByteBuffer(bytes: Array(#"{"text":"a"#.utf8) + text + Array(#""}"#.utf8))
    #expect(PlainBody.text(in: body) == nil)
    #expect(throws: Refusal.self) { try JSONBody.decodeNow(SendMessageRequest.self, from: body) }
  }

  @Test("is read only as a whole")
  func prefixes() {
    for body in Self.plain {
      let end = body.lastIndex(of: "}") ?? body.endIndex
      for index in body.indices where index <= end {
        #expect(PlainBody.text(in: ByteBuffer(string: String(body[..<index]))) == nil)
      }
    }
  }

  @Test("gets the receipt that the encoder writes", arguments: ["hello", "", "a/b 'c' <d>", "Grüße 世界"])
  func receipt(text: String) throws {
    let id = MessageID(UUIDBytes(high: 0x0123_4567_89ab_cdef, low: 0xfedc_ba98_7654_3210))
    let room = RoomID(UUIDBytes(high: 1, low: 2))
    let sender = UserID(UUIDBytes(high: .max, low: .max))
    for (position, time) in [(LogPosition(1), Timestamp(milliseconds: 0)), (LogPosition(.max), Timestamp.latest)] {
      let message = Message(
        id: id, roomId: room, senderId: sender, text: text, sentAt: time, position: position, revision: position,
        editedAt: nil, deletedAt: nil)
      let written = PlainReceipt.json(text: text, as: id, in: room, by: sender, at: position, time)
      #expect(String(buffer: written) == String(buffer: try JSONBody.encode(message)))
    }
  }
}
