import HTTPTypes
import NIOCore

/// The head of a response of HTTP/1.1, written as bytes. It equals what the encoder writes for the same fields.
struct DirectResponseHead {
  /// The status line, the fields and their values, usually.
  private static let usualBytes = 512

  private var bytes: ByteBuffer

  init(_ status: HTTPResponse.Status, bodyBytes: Int) {
    bytes = ByteBufferAllocator().buffer(capacity: Self.usualBytes + bodyBytes)
    switch status {
    case .created: bytes.writeStaticString("HTTP/1.1 201 Created\r\n")
    case .ok: bytes.writeStaticString("HTTP/1.1 200 OK\r\n")
    default: bytes.writeString("HTTP/1.1 \(status.code) \(status.reasonPhrase)\r\n")
    }
  }

  mutating func add(_ name: StaticString, _ value: String) {
    bytes.writeStaticString(name)
    bytes.writeStaticString(": ")
    bytes.writeString(value)
    bytes.writeStaticString("\r\n")
  }

  mutating func add(_ field: HTTPField) {
    bytes.writeString(field.name.rawName)
    bytes.writeStaticString(": ")
    bytes.writeString(field.value)
    bytes.writeStaticString("\r\n")
  }

  mutating func add(_ fields: HTTPFields) {
    for field in fields { add(field) }
  }

  /// The same as `ResponseHeaders.complete`.
  mutating func addCommon(requestID: String) {
    add("X-Request-Id", requestID)
    bytes.writeStaticString("Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n")
  }

  /// The whole response.
  consuming func bytes(with body: ByteBuffer) -> ByteBuffer {
    bytes.writeStaticString("\r\n")
    bytes.writeImmutableBuffer(body)
    return bytes
  }
}
