import ChatPrimitives
import ChatProtocol
import SocketProtocols
import Testing

@testable import ChatServer

@Suite("A message over GET /v1/sync/socket")
struct SocketFrameSpecs {
  private func frame(_ text: String) throws -> SocketFrame { try SocketFrame(.text(Array(text.utf8))) }

  @Test("can authenticate")
  func authenticate() throws {
    let message = #"{"type":"authenticate","token":"x","since":"c","perRoom":30,"include":["message"]}"#
    guard case .authenticate(let options) = try frame(message) else {
      Issue.record("another frame")
      return
    }
    #expect((options.token, options.since, options.perRoom) == ("x", "c", 30))
    #expect(options.include == ["message"] && options.rooms == nil && !options.hasOnlyToken)
  }

  @Test("can be a command")
  func command() throws {
    let message = #"""
      {"type":"command","id":"c1","method":"PUT","path":"/v1?x=1","headers":{"If-Match":"\"3\""},"body":{"b":1,"a":[]}}
      """#
    guard case .command(let id, let command) = try frame(message) else {
      Issue.record("another frame")
      return
    }
    #expect((id, command.method, command.path) == ("c1", "PUT", "/v1?x=1"))
    #expect(command.headers?.body.ifMatch == #""3""# && command.headers?.body.idempotencyKey == nil)
    #expect(command.body != nil)
  }

  @Test(
    "that is no command, but has an ID, gets a response",
    arguments: [
      #"{"type":"command","id":"1"}"#, #"{"type":"command","id":"1","method":1,"path":"/"}"#,
      #"{"type":"command","id":"1","method":"PUT","path":"/","colour":"red"}"#,
      #"{"type":"command","id":"1","method":"PUT","path":"/","headers":{"Host":"x"}}"#,
    ])
  func malformedCommand(message: String) throws {
    guard case .malformedCommand(id: "1", _) = try frame(message) else {
      Issue.record("another frame")
      return
    }
  }

  @Test("has an ID of 1 to 64 bytes if it is a command", arguments: [0, 1, 64, 65])
  func lengthOfID(bytes: Int) throws {
    let id = String(repeating: "x", count: bytes)
    let message = try frame(#"{"type":"command","id":"\#(id)","method":"PUT","path":"/"}"#)
    switch message {
    case .command(let found, _): #expect(found == id && (1...Limits.commandIDBytes).contains(bytes))
    case .malformedCommand(let found, _): #expect(found == nil && !(1...Limits.commandIDBytes).contains(bytes))
    case .authenticate, .saying: Issue.record("another frame")
    }
  }

  @Test(
    "that means nothing ends the stream",
    arguments: [
      "", "x", "[]", "null", "{}", #"{"type":null}"#, #"{"type":1}"#, #"{"type":"Command"}"#,
      #"{"type":"command","id":1}"#, #"{"type":"x","type":"command"}"#,
    ])
  func meaningless(message: String) {
    #expect(code { try frame(message) } == "invalid_frame")
  }

  @Test("that is binary ends the stream")
  func binary() {
    #expect(code { try SocketFrame(.binary(Array("{}".utf8))) } == "invalid_frame")
  }

  @Test("that authenticates in a wrong way ends the stream")
  func wrongAuthentication() {
    #expect(code { try frame(#"{"type":"authenticate","token":1}"#) } == "invalid_field")
    #expect(code { try frame(#"{"type":"authenticate","token":"x","limit":1}"#) } == "unknown_field")
  }

  private func code(_ body: () throws -> SocketFrame) -> String? {
    do {
      _ = try body()
      return nil
    } catch {
      return ProblemMapping(error).code
    }
  }
}
