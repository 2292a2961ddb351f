import ChatPrimitives
import HTTPTypes

/// The head of a request that sends a message, in the only form that bypasses the router.
struct PlainSendHead: Sendable, Hashable {
  let room: RoomID
  let message: MessageID
  /// The field `Authorization`.
  let authorization: String
  /// The field `Hansard-Act-As`, if there is one.
  let actAs: String?
  /// The announced length of the body.
  let bodyBytes: Int
  /// The field `X-Forwarded-For`, if there is one.
  let forwardedFor: String?

  /// - Returns: nil if the request is another one, or if anything in its head could change what the router does with it.
  init?(_ request: HTTPRequest) {
    guard request.method == .put, let target = request.path.flatMap(Target.init) else { return nil }
    guard let fields = Fields(request.headerFields), let authorization = fields.authorization,
      let length = fields.contentLength.flatMap(Self.length), fields.isJSON
    else { return nil }
    room = target.room
    message = target.message
    self.authorization = authorization
    actAs = fields.actAs
    bodyBytes = length
    forwardedFor = fields.forwardedFor
  }

  /// Digits only, because `Int` would accept a sign.
  private static func length(_ text: String) -> Int? {
    guard text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }), let length = Int(text),
      length <= Limits.directBodyBytes
    else { return nil }
    return length
  }

  /// The path `/v1/rooms/{roomId}/messages/{messageId}` without a query. The router also accepts other forms of it.
  private struct Target {
    let room: RoomID
    let message: MessageID

    private static let rooms: StaticString = "/v1/rooms/"
    private static let messages: StaticString = "/messages/"

    init?(_ path: String) {
      var path = path
      let ids: (UUIDBytes, UUIDBytes)? = path.withUTF8 { bytes in
        var rest = bytes[...]
        guard Self.skip(Self.rooms, &rest), let room = Self.takeID(&rest), Self.skip(Self.messages, &rest),
          let message = Self.takeID(&rest), rest.isEmpty
        else { return nil }
        return (room, message)
      }
      guard let (room, message) = ids else { return nil }
      self.room = RoomID(room)
      self.message = MessageID(message)
    }

    private static func skip(_ text: StaticString, _ rest: inout Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
      guard rest.count >= text.utf8CodeUnitCount else { return false }
      for index in 0..<text.utf8CodeUnitCount where rest[rest.startIndex + index] != text.utf8Start[index] {
        return false
      }
      rest = rest.dropFirst(text.utf8CodeUnitCount)
      return true
    }

    private static func takeID(_ rest: inout Slice<UnsafeBufferPointer<UInt8>>) -> UUIDBytes? {
      guard rest.count >= UUIDBytes.textLength,
        let uuid = UUIDBytes(text: UnsafeBufferPointer(rebasing: rest.prefix(UUIDBytes.textLength))), uuid != .zero
      else { return nil }
      rest = rest.dropFirst(UUIDBytes.textLength)
      return uuid
    }
  }

  /// The fields that matter. All others are known to change nothing.
  private struct Fields {
    var authorization: String?
    var actAs: String?
    var contentLength: String?
    var isJSON = false
    var forwardedFor: String?

    /// - Returns: nil if there is a field that is not known, one that occurs twice, or a value that is not ASCII.
    init?(_ fields: HTTPFields) {
      for field in fields {
        guard field.value.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
        switch field.name.canonicalName {
        case "authorization":
          guard Self.set(&authorization, field.value) else { return nil }
        case "hansard-act-as":
          guard Self.set(&actAs, field.value) else { return nil }
        case "content-type":
          guard !isJSON, Self.jsonTypes.contains(field.value) else { return nil }
          isJSON = true
        case "content-length":
          guard Self.set(&contentLength, field.value) else { return nil }
        case "connection":
          guard field.value.lowercased() == "keep-alive" else { return nil }
        case "x-forwarded-for":
          guard Self.set(&forwardedFor, field.value) else { return nil }
        case let name:
          guard Self.ignored.contains(name) else { return nil }
        }
      }
    }

    private static func set(_ field: inout String?, _ value: String) -> Bool {
      defer { field = value }
      return field == nil
    }

    private static let jsonTypes: Set<String> = [
      "application/json", "application/json; charset=utf-8", "application/json;charset=utf-8",
      "application/json; charset=UTF-8", "application/json;charset=UTF-8",
    ]

    /// Fields that clients and proxies often send, and that the router does not read for this endpoint.
    private static let ignored: Set<String> = [
      "host", "user-agent", "accept", "accept-encoding", "accept-language", "cache-control", "pragma", "cookie",
      "referer", "priority", "dnt", "x-real-ip", "x-forwarded-proto", "x-forwarded-host", "x-forwarded-port",
      "forwarded", "via", "sec-fetch-dest", "sec-fetch-mode", "sec-fetch-site", "sec-ch-ua", "sec-ch-ua-mobile",
      "sec-ch-ua-platform",
    ]
  }
}
