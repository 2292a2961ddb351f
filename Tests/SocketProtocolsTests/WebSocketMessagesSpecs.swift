import EventLogSimulation
import Testing

@testable import SocketProtocols

@Suite struct WebSocketMessagesSpecs {
  private func outputs(
    _ frames: ClientFrame..., limits: WebSocketMessages.Limits = .small
  ) throws(WebSocketFailure) -> [WebSocketMessages.Output] {
    var messages = WebSocketMessages(limits: limits)
    return try messages.receive(frames)
  }

  @Test("a frame is a message")
  func singleFrames() throws {
    #expect(try outputs(.text("hello")) == [.message(.text(utf8("hello")))])
    #expect(try outputs(.text("")) == [.message(.text([]))])
    #expect(try outputs(ClientFrame(.binary, [0xff, 0x00])) == [.message(.binary([0xff, 0x00]))])
  }

  @Test("fragments are put together, and empty ones count as nothing")
  func fragments() throws {
    let frames = ClientFrame.fragments(.text, [[], utf8("hel"), [], utf8("lo"), []])
    var messages = WebSocketMessages(limits: .small)
    #expect(try messages.receive(frames) == [.message(.text(utf8("hello")))])
    #expect(try messages.receive([.text("next")]) == [.message(.text(utf8("next")))])
  }

  @Test("control frames between fragments are handed on at once")
  func controlBetweenFragments() throws {
    let found = try outputs(
      ClientFrame(.text, "a", isFinal: false), ClientFrame(.ping, "p"), ClientFrame(.pong, "q"),
      ClientFrame(.continuation, "b"))
    #expect(found == [.ping(utf8("p")), .pong(utf8("q")), .message(.text(utf8("ab")))])
  }

  @Test("a text gives the same message wherever it is split into three frames")
  func splitsOfText() throws {
    let text = utf8("aµ€😀z")
    for first in 0...text.count {
      for second in first...text.count {
        let parts = [Array(text[..<first]), Array(text[first..<second]), Array(text[second...])]
        var messages = WebSocketMessages(limits: .small)
        #expect(try messages.receive(ClientFrame.fragments(.text, parts)) == [.message(.text(text))])
      }
    }
  }

  @Test("random messages, fragments and control frames arrive in order", arguments: 0..<200 as Range<UInt64>)
  func randomMessages(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    var frames: [ClientFrame] = []
    var expected: [WebSocketMessages.Output] = []
    for _ in 0..<10 {
      let isText = Bool.random(using: &random)
      let bytes = isText ? utf8(random.text(8)) : random.bytes(.random(in: 0...32, using: &random))
      let cuts = (0..<Int.random(in: 0...7, using: &random)).map { _ in Int.random(in: 0...bytes.count, using: &random)
      }
      let places = [0] + cuts.sorted() + [bytes.count]
      let parts = zip(places, places.dropFirst()).map { Array(bytes[$0..<$1]) }
      for frame in ClientFrame.fragments(isText ? .text : .binary, parts) {
        if Bool.random(using: &random) {
          let payload = random.bytes(.random(in: 0...125, using: &random))
          frames.append(ClientFrame(.ping, payload))
          expected.append(.ping(payload))
        }
        frames.append(frame)
      }
      expected.append(.message(isText ? .text(bytes) : .binary(bytes)))
    }
    var messages = WebSocketMessages(limits: .small)
    #expect(try messages.receive(frames) == expected)
  }

  // MARK: Bad input

  @Test(
    "a header that breaks a rule is a protocol error",
    arguments: [
      (WebSocketFrameHeader(opcode: 1, isMasked: false), WebSocketFailure.unmasked),
      (WebSocketFrameHeader(reserved: 4, opcode: 1), .reservedBits(4)),
      (WebSocketFrameHeader(reserved: 1, opcode: 9), .reservedBits(1)),
      (WebSocketFrameHeader(opcode: 3), .unknownOpcode(3)), (WebSocketFrameHeader(opcode: 7), .unknownOpcode(7)),
      (WebSocketFrameHeader(opcode: 0xb), .unknownOpcode(0xb)),
      (WebSocketFrameHeader(isFinal: false, opcode: 0x9), .fragmentedControl),
      (WebSocketFrameHeader(isFinal: false, opcode: 0x8), .fragmentedControl),
      (WebSocketFrameHeader(opcode: 0), .unexpectedContinuation),
    ])
  func badHeader(header: WebSocketFrameHeader, failure: WebSocketFailure) {
    var messages = WebSocketMessages(limits: .small)
    #expect(throws: failure) { try messages.receive(header, payload: []) }
    #expect(failure.closeCode == .protocolError)
  }

  @Test("a message within another one is a protocol error", arguments: [WebSocketOpcode.text, .binary])
  func interleaved(opcode: WebSocketOpcode) {
    #expect(throws: WebSocketFailure.interleavedMessage) {
      try outputs(ClientFrame(.text, "a", isFinal: false), ClientFrame(opcode, "b"))
    }
  }

  @Test("after a message, a continuation continues nothing")
  func lateContinuation() {
    #expect(throws: WebSocketFailure.unexpectedContinuation) {
      try outputs(.text("a"), ClientFrame(.continuation, "b"))
    }
  }

  @Test("a control frame holds 125 bytes")
  func controlLength() throws {
    #expect(try outputs(ClientFrame(.ping, [UInt8](repeating: 1, count: 125))).count == 1)
    #expect(throws: WebSocketFailure.controlTooLong(bytes: 126)) {
      try outputs(ClientFrame(.ping, [UInt8](repeating: 1, count: 126)))
    }
  }

  @Test("a message holds its limit, in one frame and over all fragments")
  func messageLength() throws {
    #expect(try outputs(ClientFrame(.binary, [UInt8](repeating: 0, count: 64))).count == 1)
    #expect(throws: WebSocketFailure.messageTooLarge) {
      try outputs(ClientFrame(.binary, [UInt8](repeating: 0, count: 65)))
    }
    let half = [UInt8](repeating: 0, count: 32)
    var messages = WebSocketMessages(limits: .small)
    #expect(try messages.receive(ClientFrame.fragments(.binary, [half, half])).count == 1)
    #expect(throws: WebSocketFailure.messageTooLarge) {
      try messages.receive(ClientFrame.fragments(.binary, [half, half, [0]]))
    }
    #expect(WebSocketFailure.messageTooLarge.closeCode == .messageTooBig)
  }

  @Test("a message has its limit of fragments, empty ones included", arguments: [7, 8, 9])
  func fragmentCount(count: Int) {
    var messages = WebSocketMessages(limits: .small)
    let frames = ClientFrame.fragments(.text, [[UInt8]](repeating: [], count: count))
    if count <= 8 {
      #expect(throws: Never.self) { try messages.receive(frames) }
    } else {
      #expect(throws: WebSocketFailure.tooManyFragments) { try messages.receive(frames) }
    }
    #expect(WebSocketFailure.tooManyFragments.closeCode == .messageTooBig)
  }

  @Test("invalid text is found in the fragment that has it, and an unfinished character at the end")
  func invalidText() {
    #expect(throws: WebSocketFailure.invalidUTF8) { try outputs(ClientFrame(.text, [0xff], isFinal: false)) }
    #expect(throws: WebSocketFailure.invalidUTF8) { try outputs(ClientFrame(.text, [0xe2, 0x82])) }
    #expect(throws: WebSocketFailure.invalidUTF8) {
      try outputs(ClientFrame(.text, [0xe2], isFinal: false), ClientFrame(.continuation, [0x82]))
    }
    #expect(WebSocketFailure.invalidUTF8.closeCode == .invalidData)
  }

  // MARK: Close frames

  @Test(
    "a close frame can have these codes",
    arguments: [1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 1014, 3000, 3999, 4000, 4999])
  func validCode(code: UInt16) throws {
    let close = WebSocketClose(WebSocketCloseCode(rawValue: code), reason: "bye €")
    #expect(try outputs(ClientFrame(.close, close.payload)) == [.close(close)])
  }

  @Test(
    "a close frame cannot have these codes",
    arguments: [0, 1, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65_535])
  func invalidCode(code: UInt16) {
    #expect(throws: WebSocketFailure.invalidCloseCode(code)) {
      try outputs(ClientFrame(.close, [UInt8(code >> 8), UInt8(code & 0xff)]))
    }
  }

  @Test("a close frame is empty or has two bytes of code; the reason is valid UTF-8")
  func closePayload() throws {
    #expect(try outputs(ClientFrame(.close, [])) == [.close(.empty)])
    #expect(throws: WebSocketFailure.malformedClose) { try outputs(ClientFrame(.close, [0x03])) }
    #expect(throws: WebSocketFailure.invalidUTF8) { try outputs(ClientFrame(.close, [0x03, 0xe8, 0xc3])) }
    #expect(try outputs(ClientFrame(.close, [0x03, 0xe8] + [UInt8](repeating: 0x61, count: 123))).count == 1)
  }

  @Test("a reason that is too long is cut between two characters")
  func longReason() throws {
    let close = WebSocketClose(.normal, reason: String(repeating: "€", count: 60))
    #expect(close.payload.count == 2 + 41 * 3)
    #expect(try WebSocketClose(parsing: close.payload) == close)
  }

  // MARK: Frames of the server

  @Test(
    "a frame has the shortest header for its length",
    arguments: [
      (0, [0x82, 0]), (125, [0x82, 125]), (126, [0x82, 126, 0, 126]), (65_535, [0x82, 126, 0xff, 0xff]),
      (65_536, [0x82, 127, 0, 0, 0, 0, 0, 1, 0, 0]),
    ] as [(Int, [UInt8])])
  func encodes(count: Int, header: [UInt8]) {
    let payload = [UInt8](repeating: 7, count: count)
    #expect(WebSocketMessage.binary(payload).frame == header + payload)
  }

  @Test("each kind of frame has its opcode, is final and has no mask")
  func opcodes() {
    #expect(WebSocketMessage.text(utf8("a")).frame == [0x81, 1, 0x61])
    #expect(WebSocketClose(.goingAway).frame == [0x88, 2, 0x03, 0xe9])
    #expect(WebSocketClose.empty.frame == [0x88, 0])
    #expect(WebSocketFrames.encode(.ping, []) == [0x89, 0])
    #expect(WebSocketFrames.encode(.pong, [1]) == [0x8a, 1, 1])
  }
}
