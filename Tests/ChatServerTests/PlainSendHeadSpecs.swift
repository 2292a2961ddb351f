import ChatPrimitives
import HTTPTypes
import Testing

@testable import ChatServer

@Suite("The head of a message that bypasses the router")
struct PlainSendHeadSpecs {
  private static let room = "00000000-0000-4000-8000-0000000000aa"
  private static let message = "00000000-0000-4000-8000-0000000000bb"
  private static let path = "/v1/rooms/\(room)/messages/\(message)"
  private static let fields: HTTPFields = [
    .authorization: "Bearer token", .contentType: "application/json", .contentLength: "16",
  ]

  private static func head(
    _ path: String = path, method: HTTPRequest.Method = .put, _ change: (inout HTTPFields) -> Void = { _ in }
  ) -> PlainSendHead? {
    var fields = fields
    change(&fields)
    return PlainSendHead(
      HTTPRequest(method: method, scheme: "http", authority: "h", path: path, headerFields: fields))
  }

  @Test("is recognised, with IDs in upper or lower case")
  func plain() throws {
    for path in [Self.path, Self.path.replacing("aa/", with: "AA/")] {
      let head = try #require(Self.head(path))
      #expect(head.room.description == Self.room)
      #expect(head.message.description == Self.message)
      #expect(head.authorization == "Bearer token")
      #expect(head.bodyBytes == 16)
      #expect(head.forwardedFor == nil)
    }
  }

  @Test(
    "has exactly this path",
    arguments: [
      path + "/", path + "?x=1", path + "?", "/" + path, path + "0", String(path.dropLast()), "http://h" + path,
      path.replacing("messages", with: "message"), path.replacing("v1", with: "V1"),
      path.replacing("/messages", with: "//messages"), path.replacing("bb", with: "%62b"),
      path.replacing(room, with: "00000000-0000-0000-0000-000000000000"), path.replacing("-4000", with: "04000"),
      "*", "", "/",
    ])
  func otherPaths(path: String) {
    #expect(Self.head(path) == nil)
  }

  @Test("has the method PUT", arguments: [HTTPRequest.Method.post, .get, .patch, .delete, .options])
  func otherMethods(method: HTTPRequest.Method) {
    #expect(Self.head(method: method) == nil)
  }

  @Test("has a token, a type and a length", arguments: [HTTPField.Name.authorization, .contentType, .contentLength])
  func missing(name: HTTPField.Name) {
    #expect(Self.head { $0[name] = nil } == nil)
  }

  @Test(
    "has no field twice, except those that change nothing",
    arguments: [HTTPField.Name.authorization, .contentType, .contentLength, .xForwardedFor, .hansardActAs])
  func repeated(name: HTTPField.Name) {
    #expect(
      Self.head {
        for _ in 0..<2 { $0.append(HTTPField(name: name, value: Self.fields[name] ?? "10.1.1.1")) }
      } == nil)
    #expect(Self.head { for _ in 0..<2 { $0.append(HTTPField(name: .accept, value: "*/*")) } } != nil)
  }

  @Test("announces a body up to the limit")
  func lengths() {
    for (length, isPlain) in [("0", true), ("4096", true), ("4097", false), ("+1", false), ("", false), ("x", false)] {
      #expect((Self.head { $0[.contentLength] = length } != nil) == isPlain, "\(length)")
    }
    #expect(Limits.directBodyBytes == 4096)
  }

  @Test("declares JSON in UTF-8")
  func types() {
    for (type, isPlain) in [
      ("application/json", true), ("application/json; charset=utf-8", true), ("text/plain", false),
      ("application/json; charset=latin1", false), ("application/merge-patch+json", false),
    ] {
      #expect((Self.head { $0[.contentType] = type } != nil) == isPlain, "\(type)")
    }
  }

  @Test(
    "has no field that can change what the router does, and none that is not known",
    arguments: [
      ("Expect", "100-continue"), ("Transfer-Encoding", "chunked"), ("Content-Encoding", "identity"),
      ("Idempotency-Key", "a"), ("If-Match", "\"1\""), ("Origin", "https://example.org"),
      ("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"), ("Upgrade", "websocket"),
      ("Connection", "close"), ("Connection", "upgrade"), ("X-Whatever", "1"), ("User-Agent", "gr\u{fc}\u{df}e"),
    ])
  func otherFields(name: String, value: String) throws {
    let name = try #require(HTTPField.Name(name))
    #expect(Self.head { $0.append(HTTPField(name: name, value: value)) } == nil)
  }

  @Test("may name the user for whom a service acts")
  func acting() {
    #expect(Self.head()?.actAs == nil)
    #expect(Self.head { $0[.hansardActAs] = Self.room }?.actAs == Self.room)
  }

  @Test("may have fields that change nothing")
  func ignoredFields() {
    let head = Self.head {
      $0[.userAgent] = "x"
      $0[.connection] = "Keep-Alive"
      $0[.xForwardedFor] = "10.1.1.1, 10.1.1.2"
    }
    #expect(head?.forwardedFor == "10.1.1.1, 10.1.1.2")
  }
}
