import ChatPrimitives
import Testing

@testable import ChatServer

@Suite("The bytes of a message that bypasses the router")
struct PlainSendSpecs {
  private static let room = "00000000-0000-4000-8000-0000000000aa"
  private static let message = "00000000-0000-4000-8000-0000000000bb"
  private static let path = "/v1/rooms/\(room)/messages/\(message)"
  private static let line = "PUT \(path) HTTP/1.1"
  private static let fields = [
    "Host: h", "Authorization: Bearer token", "Content-Type: application/json", "Content-Length: 16",
  ]
  private static let body = #"{"text":"hello"}"#

  private static func request(_ line: String = line, _ fields: [String] = fields, _ body: String = body) -> String {
    ([line] + fields).joined(separator: "\r\n") + "\r\n\r\n" + body
  }

  private static func parse(_ text: String) -> PlainSend.Parsed {
    Array(text.utf8).withUnsafeBytes(PlainSend.parse)
  }

  private static func plain(_ text: String) -> PlainSend? {
    guard case .complete(let request) = parse(text) else { return nil }
    return request
  }

  private static func isPlain(_ line: String = line, replacing name: String = "", with field: String...) -> Bool {
    plain(request(line, fields.filter { name.isEmpty || !$0.hasPrefix(name) } + field)) != nil
  }

  @Test("are recognised, with IDs in upper or lower case, and with another request behind them")
  func whole() throws {
    for line in [Self.line, Self.line.replacing("aa/", with: "AA/")] {
      let text = Self.request(line)
      for following in ["", "PUT", text] {
        let request = try #require(Self.plain(text + following))
        #expect(request.room.description == Self.room)
        #expect(request.message.description == Self.message)
        #expect(Array(text.utf8)[request.authorization].elementsEqual("Bearer token".utf8))
        #expect(request.bodyBytes == 16)
        #expect(request.bytes == text.utf8.count)
        #expect(request.forwardedFor == nil && request.actAs == nil)
      }
    }
  }

  @Test("are incomplete wherever they are cut")
  func cut() {
    let text = Self.request()
    for length in 1..<text.utf8.count {
      let beginning = String(decoding: text.utf8.prefix(length), as: UTF8.self)
      #expect(Self.parse(beginning) == .incomplete, "\(length)")
    }
    #expect(Self.parse("GET ") == .other)
    #expect(Self.parse("PUT /v1/me") == .other)
    #expect(Self.parse(Self.line + "\r\nX-Whatever: 1\r\nHo") == .other)
  }

  @Test(
    "have exactly this line",
    arguments: [
      path + "/", path + "?x=1", path + "?", "/" + path, path + "0", String(path.dropLast()), "http://h" + path,
      path.replacing("messages", with: "message"), path.replacing("v1", with: "V1"),
      path.replacing("/messages", with: "//messages"), path.replacing("bb", with: "%62b"),
      path.replacing(room, with: "00000000-0000-0000-0000-000000000000"), path.replacing("-4000", with: "04000"),
      "*", "", "/",
    ])
  func otherPaths(path: String) {
    #expect(!Self.isPlain("PUT \(path) HTTP/1.1"))
  }

  @Test(
    "have the method PUT and version 1.1",
    arguments: [
      "POST \(path) HTTP/1.1", "put \(path) HTTP/1.1", "PUT \(path) HTTP/1.0", "PUT \(path) HTTP/2.0",
      "PUT  \(path) HTTP/1.1", "PUT \(path) HTTP/1.1 ", "PUT \(path)",
    ])
  func otherLines(line: String) {
    #expect(!Self.isPlain(line))
  }

  @Test(
    "have a host, a token, a type and a length",
    arguments: ["Host", "Authorization", "Content-Type", "Content-Length"])
  func missing(name: String) {
    #expect(!Self.isPlain(replacing: name))
  }

  @Test("have no field twice, except those that change nothing")
  func repeated() {
    for field in Self.fields { #expect(!Self.isPlain(replacing: "", with: field), "\(field)") }
    for field in ["X-Forwarded-For: 10.1.1.1", "Hansard-Act-As: \(Self.room)"] {
      #expect(Self.isPlain(replacing: "", with: field))
      #expect(!Self.isPlain(replacing: "", with: field, field))
    }
    #expect(Self.isPlain(replacing: "", with: "Accept: */*", "Accept: */*"))
  }

  @Test("announce a body up to the limit")
  func lengths() {
    for length in ["4097", "+1", "", "x", "1 1", "0x10", "1000000"] {
      let text = Self.request(Self.line, Self.fields.dropLast() + ["Content-Length: \(length)"], "")
      #expect(Self.parse(text) == .other, "\(length)")
    }
    let longest = Self.request(Self.line, Self.fields.dropLast() + ["Content-Length: 4096"], "")
    #expect(Self.parse(longest) == .incomplete)
    #expect(Limits.directBodyBytes == 4096)
  }

  @Test("have a head up to the limit")
  func heads() {
    let known = Self.request(Self.line, Self.fields + ["Cookie: "]).utf8.count - Self.body.utf8.count
    for (length, isPlain) in [(Limits.directHeadBytes, true), (Limits.directHeadBytes + 1, false)] {
      let cookie = String(repeating: "x", count: length - known)
      #expect(Self.isPlain(replacing: "", with: "Cookie: " + cookie) == isPlain)
    }
  }

  @Test("declare JSON in UTF-8")
  func types() {
    for (type, isPlain) in [
      ("application/json", true), ("application/json; charset=utf-8", true), ("text/plain", false),
      ("application/json; charset=latin1", false), ("application/merge-patch+json", false), ("", false),
    ] {
      #expect(Self.isPlain(replacing: "Content-Type", with: "Content-Type: " + type) == isPlain, "\(type)")
    }
  }

  @Test(
    "have no field that can change what the router does, and none that is not known or malformed",
    arguments: [
      "Expect: 100-continue", "Transfer-Encoding: chunked", "Content-Encoding: identity", "Idempotency-Key: a",
      "If-Match: \"1\"", "Origin: https://example.org",
      "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "Upgrade: websocket", "Connection: close",
      "Connection: upgrade", "X-Whatever: 1", "User-Agent: gr\u{fc}\u{df}e", "User-Agent: a\u{1}", "Accept",
      "Accept : a", " Accept: a", ": a", "Accept: a\nHost: b",
    ])
  func otherFields(field: String) {
    #expect(!Self.isPlain(replacing: "", with: field))
  }

  @Test("do not end in a tab, which the decoder refuses", arguments: ["Host: x\t", "Content-Length: 13 \t", "User-Agent: x\t"])
  func tabs(field: String) {
    #expect(!Self.isPlain(replacing: String(field.prefix { $0 != ":" }), with: field))
  }

  @Test("name one host", arguments: ["Host: a/b", "Host: a b", "Host: a@b"])
  func hosts(field: String) {
    #expect(!Self.isPlain(replacing: "Host", with: field))
    #expect(Self.isPlain(replacing: "Host", with: "host:\t[::1]:80 "))
  }

  @Test("may have fields that change nothing, in any case")
  func ignoredFields() throws {
    let text = Self.request(
      Self.line,
      Self.fields + [
        "user-agent: x", "CONNECTION: Keep-Alive", "x-Forwarded-For: 10.1.1.1, 10.1.1.2 ", "hansard-act-as:u",
      ])
    let request = try #require(Self.plain(text))
    let bytes = Array(text.utf8)
    #expect(String(decoding: bytes[try #require(request.forwardedFor)], as: UTF8.self) == "10.1.1.1, 10.1.1.2")
    #expect(String(decoding: bytes[try #require(request.actAs)], as: UTF8.self) == "u")
  }
}
