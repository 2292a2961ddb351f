import ChatPrimitives
import ChatProtocol
import NIOCore
import Testing

@testable import ChatServer

@Suite("A line of an ingest with only a text")
struct PlainLineSpecs {
  private static let id = "0123abcd-0000-4000-8000-000000000001"
  private static let other = "0123ABCD-0000-4000-8000-00000000000F"
  private static let plain = [
    #"{"op":"message.send","roomId":"\#(id)","id":"\#(other)","text":"hello","as":"\#(id)"}"#,
    #" { "text" : "Grüße, 世界 👋🏽" , "op" : "message.send" } "#, #"{"op":"message.send"}"#,
    #"{"op":"message.send","text":""}"#, #"{"op":"message.send","id":"\#(id)"}"#, marked(30),
  ]

  /// A letter with so many combining marks, of which 30 are allowed.
  private static func marked(_ count: Int) -> String {
    #"{"op":"message.send","text":"a"# + String(repeating: "\u{301}", count: count) + #""}"#
  }

  /// Some are valid, but all are left to the decoder.
  private static let others = [
    "", "{", "{}", #"{"text":"a"}"#, #"{"op":"message.edit","text":"a"}"#, #"{"op":"message.send","key":"a"}"#,
    #"{"op":"message.send","op":"message.send"}"#, #"{"op":"message.send","text":"a","text":"a"}"#,
    #"{"op":"message.send","as":"\#(id)","as":"\#(id)"}"#, #"{"op":"message.send","id":"\#(id)","id":"\#(id)"}"#,
    #"{"op":"message.send","roomId":"\#(id)","roomId":"\#(id)"}"#, #"{"op":"message.send","as":"anna"}"#,
    #"{"op":"message.send","id":"00000000-0000-0000-0000-000000000000"}"#, #"{"op":"message.send","roomId":""}"#,
    #"{"op":"message.send","text":"a\n"}"#, #"{"op":"message.send","text":null}"#, #"{"op":"message.send",}"#,
    #"{"op":"message.send"}{"#, #"{"op":"message.send" "text":"a"}"#, #"{"op":"message.send","silent":true}"#, marked(31),
  ]

  @Test("is read as the decoder reads it", arguments: plain)
  func isRead(text: String) throws {
    let bytes = ByteBuffer(string: text)
    let line = try #require(PlainLine.message(in: bytes))
    let decoded = try JSONBody.decodeNow(IngestLine.self, from: bytes)
    #expect(line.op == decoded.op && line.as == decoded.as && line.id == decoded.id && line.roomId == decoded.roomId)
    #expect(line.text == decoded.text)
  }

  @Test("is the only line that is read without the decoder", arguments: others)
  func isLeft(text: String) {
    #expect(PlainLine.message(in: ByteBuffer(string: text)) == nil)
  }

  @Test("is read only as a whole")
  func prefixes() {
    for line in Self.plain {
      let end = line.lastIndex(of: "}") ?? line.endIndex
      for index in line.indices where index <= end {
        #expect(PlainLine.message(in: ByteBuffer(string: String(line[..<index]))) == nil)
      }
    }
  }
}
