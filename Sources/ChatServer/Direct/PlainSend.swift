import ChatPrimitives
import Foundation

/// A request that sends a message, in the only form that bypasses the HTTP decoder and the router. It is read from the bytes of
/// a connection. What is not copied are ranges of those bytes.
struct PlainSend: Sendable, Hashable {
  let room: RoomID
  let message: MessageID
  /// The value of `Authorization`.
  let authorization: Range<Int>
  /// The value of `Hansard-Act-As`, if there is one.
  let actAs: Range<Int>?
  /// The value of `X-Forwarded-For`, if there is one.
  let forwardedFor: Range<Int>?
  /// The length of the request line and the fields, with the empty line.
  let headBytes: Int
  let bodyBytes: Int

  /// The length of the request.
  var bytes: Int { headBytes + bodyBytes }

  enum Parsed: Sendable, Hashable {
    /// The bytes begin with this request.
    case complete(PlainSend)
    /// They are the beginning of such a request, as far as can be seen.
    case incomplete
    /// They begin with another request, or with anything that could change what the router does with it.
    case other
  }

  /// Reads the first request of `bytes`.
  static func parse(_ bytes: UnsafeRawBufferPointer) -> Parsed {
    guard let target = Target(bytes) else {
      return bytes.count < Target.bytes && Target.begins(bytes) ? .incomplete : .other
    }
    var fields = Fields()
    guard let end = fields.read(bytes, from: Target.bytes) else {
      return fields.isPlain && bytes.count < Limits.directHeadBytes ? .incomplete : .other
    }
    guard end <= Limits.directHeadBytes, let authorization = fields.authorization, let bodyBytes = fields.contentLength,
      fields.isJSON, fields.hasHost
    else { return .other }
    let request = PlainSend(
      room: target.room, message: target.message, authorization: authorization, actAs: fields.actAs,
      forwardedFor: fields.forwardedFor, headBytes: end, bodyBytes: bodyBytes)
    return bytes.count < request.bytes ? .incomplete : .complete(request)
  }

  /// The line `PUT /v1/rooms/{roomId}/messages/{messageId} HTTP/1.1`. The router also accepts other forms of it.
  private struct Target {
    let room: RoomID
    let message: MessageID

    private static let rooms: StaticString = "PUT /v1/rooms/"
    private static let messages: StaticString = "/messages/"
    private static let version: StaticString = " HTTP/1.1\r\n"
    static let bytes =
      rooms.utf8CodeUnitCount + messages.utf8CodeUnitCount + version.utf8CodeUnitCount + 2 * UUIDBytes.textLength

    init?(_ bytes: UnsafeRawBufferPointer) {
      guard bytes.count >= Self.bytes else { return nil }
      var index = 0
      guard Self.skip(Self.rooms, bytes, &index), let room: RoomID = Self.takeID(bytes, &index),
        Self.skip(Self.messages, bytes, &index), let message: MessageID = Self.takeID(bytes, &index),
        Self.skip(Self.version, bytes, &index)
      else { return nil }
      self.room = room
      self.message = message
    }

    /// Whether the bytes begin like this line, or this line like the bytes.
    static func begins(_ bytes: UnsafeRawBufferPointer) -> Bool {
      bytes.prefix(rooms.utf8CodeUnitCount).elementsEqual(
        UnsafeBufferPointer(start: rooms.utf8Start, count: min(rooms.utf8CodeUnitCount, bytes.count)))
    }

    private static func skip(_ text: StaticString, _ bytes: UnsafeRawBufferPointer, _ index: inout Int) -> Bool {
      for offset in 0..<text.utf8CodeUnitCount where bytes[index + offset] != text.utf8Start[offset] { return false }
      index += text.utf8CodeUnitCount
      return true
    }

    private static func takeID<Identified>(_ bytes: UnsafeRawBufferPointer, _ index: inout Int) -> ID<Identified>? {
      defer { index += UUIDBytes.textLength }
      return ID(ascii: UnsafeRawBufferPointer(rebasing: bytes[index..<index + UUIDBytes.textLength]))
    }
  }

  /// The fields that matter. All others are known to change nothing.
  private struct Fields {
    var authorization: Range<Int>?
    var actAs: Range<Int>?
    var contentLength: Int?
    var isJSON = false
    var hasHost = false
    var forwardedFor: Range<Int>?
    /// Whether everything that was read is known.
    private(set) var isPlain = true
    private var count = 0

    /// Reads all fields.
    /// - Returns: where the body begins; nil if the empty line has not arrived, or if there is a field that is not known, one
    ///   that occurs twice, or a value that is not visible ASCII.
    mutating func read(_ bytes: UnsafeRawBufferPointer, from start: Int) -> Int? {
      var index = start
      while let end = Self.endOfLine(bytes, from: index) {
        guard bytes[end] == UInt8(ascii: "\r") else { break }
        if end == index { return end + 2 }
        count += 1
        guard count <= Limits.headerFields, take(bytes, index..<end) else { break }
        index = end + 2
      }
      isPlain = Self.endOfLine(bytes, from: index) == nil
      return nil
    }

    /// - Returns: where `\r\n` begins, or the byte before a `\n` alone; nil if the line is not complete.
    private static func endOfLine(_ bytes: UnsafeRawBufferPointer, from index: Int) -> Int? {
      guard index < bytes.count, let base = bytes.baseAddress,
        let found = memchr(base + index, Int32(UInt8(ascii: "\n")), bytes.count - index)
      else { return nil }
      return max(index, UnsafeRawPointer(found) - base - 1)
    }

    private mutating func take(_ bytes: UnsafeRawBufferPointer, _ line: Range<Int>) -> Bool {
      guard let colon = bytes[line].firstIndex(of: UInt8(ascii: ":")) else { return false }
      let value = Self.trimmed(bytes, colon + 1..<line.upperBound)
      // The decoder refuses a tab at the end of some fields.
      guard bytes[line].last != UInt8(ascii: "\t") else { return false }
      guard bytes[value].allSatisfy({ (0x20..<0x7f).contains($0) }) else { return false }
      switch KnownField(UnsafeRawBufferPointer(rebasing: bytes[line.lowerBound..<colon])) {
      case .authorization: return Self.set(&authorization, value)
      case .actAs: return Self.set(&actAs, value)
      case .forwardedFor: return Self.set(&forwardedFor, value)
      case .host:
        guard !hasHost, bytes[value].allSatisfy(HostGuard.isOfHost) else { return false }
        hasHost = true
      case .contentType:
        guard !isJSON, Self.isJSON(bytes[value]) else { return false }
        isJSON = true
      case .contentLength:
        guard contentLength == nil, let length = Self.length(bytes[value]) else { return false }
        contentLength = length
      case .connection: return Self.keepAlive.matches(bytes[value])
      case .ignored: break
      case nil: return false
      }
      return true
    }

    private static func set(_ field: inout Range<Int>?, _ value: Range<Int>) -> Bool {
      defer { field = value }
      return field == nil
    }

    private static func trimmed(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>) -> Range<Int> {
      var range = range
      while let first = range.first, isBlank(bytes[first]) { range = first + 1..<range.upperBound }
      while let last = range.last, isBlank(bytes[last]) { range = range.lowerBound..<last }
      return range
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    /// Digits only, because `Int` would accept a sign.
    private static func length(_ digits: Slice<UnsafeRawBufferPointer>) -> Int? {
      guard (1...6).contains(digits.count) else { return nil }
      var length = 0
      for digit in digits {
        guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
        length = length * 10 + Int(digit - UInt8(ascii: "0"))
      }
      return length <= Limits.directBodyBytes ? length : nil
    }

    private static let keepAlive = LowercaseName("keep-alive")

    private static func isJSON(_ value: Slice<UnsafeRawBufferPointer>) -> Bool {
      jsonTypes.contains { $0.elementsEqual(value) }
    }

    private static let jsonTypes = [
      "application/json", "application/json; charset=utf-8", "application/json;charset=utf-8",
      "application/json; charset=UTF-8", "application/json;charset=UTF-8",
    ].map { Array($0.utf8) }
  }

  /// A field that clients and proxies often send.
  private enum KnownField {
    case authorization, actAs, forwardedFor, host, contentType, contentLength, connection
    /// The router does not read it for this endpoint.
    case ignored

    /// - Parameter name: in any case.
    init?(_ name: UnsafeRawBufferPointer) {
      guard name.count < Self.byLength.count,
        let found = Self.byLength[name.count].first(where: { $0.name.matches(name[...]) })
      else { return nil }
      self = found.field
    }

    /// The fields by the length of their names.
    private static let byLength: [[(name: LowercaseName, field: KnownField)]] = {
      let ignored = [
        "user-agent", "accept", "accept-encoding", "accept-language", "cache-control", "pragma", "cookie", "referer",
        "priority", "dnt", "x-real-ip", "x-forwarded-proto", "x-forwarded-host", "x-forwarded-port", "forwarded", "via",
        "sec-fetch-dest", "sec-fetch-mode", "sec-fetch-site", "sec-ch-ua", "sec-ch-ua-mobile", "sec-ch-ua-platform",
      ]
      let read: [(String, KnownField)] = [
        ("authorization", .authorization), ("hansard-act-as", .actAs), ("x-forwarded-for", .forwardedFor),
        ("host", .host), ("content-type", .contentType), ("content-length", .contentLength),
        ("connection", .connection),
      ]
      let all = read + ignored.map { ($0, KnownField.ignored) }
      let longest = all.map(\.0.utf8.count).max() ?? 0
      return (0...longest).map { length in
        all.filter { $0.0.utf8.count == length }.map { (LowercaseName($0.0), $0.1) }
      }
    }()
  }
}

/// An ASCII name with which bytes in any case are compared.
private struct LowercaseName: Sendable {
  private let bytes: [UInt8]

  init(_ name: String) {
    bytes = Array(name.utf8)
  }

  func matches(_ name: Slice<UnsafeRawBufferPointer>) -> Bool {
    guard name.count == bytes.count else { return false }
    for (one, other) in zip(name, bytes) {
      guard one.inLowercase == other else { return false }
    }
    return true
  }
}

extension UInt8 {
  /// The letter in lower case, if it is one of ASCII.
  var inLowercase: UInt8 { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) ? self | 0x20 : self }
}
