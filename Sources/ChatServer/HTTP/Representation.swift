import ChatPrimitives
import ChatProtocol
import Crypto
import HTTPTypes
import Hummingbird
import NIOCore
import NIOPosix

/// How a response to GET is sent to a client: not at all if the client has it, and short if the client can decode it.
struct Representation {
  let request: Request
  let endpoint: AnyEndpoint

  /// A list has a weak entity tag made of its bytes, and a client that has them gets 304. A long body is compressed if the
  /// client accepts it.
  func of(_ response: Response) async throws -> Response {
    guard endpoint.method == .get, response.status == .ok, isText, let length = response.body.contentLength else {
      return response
    }
    var response = response
    let isLong = length >= Limits.compressedBodyBytes
    guard endpoint.returnsList || isLong else { return response }
    let bytes = try await response.body.collected()
    if endpoint.returnsList {
      let tag = EntityTag.weak(Self.digest(bytes))
      response.headers[.eTag] = tag.header
      // The client may keep it and must ask each time whether it is current. Shared caches may not keep it.
      response.headers[.cacheControl] = "private, no-cache"
      response.headers.addVary("Authorization")
      if tag.isNamed(in: request.headers[.ifNoneMatch]) {
        response.headers[.contentType] = nil
        return Response(status: .notModified, headers: response.headers)
      }
    }
    response.body = ResponseBody(byteBuffer: bytes)
    return isLong ? try await encoded(response, bytes) : response
  }

  private var isText: Bool {
    switch endpoint.response {
    case .json, .yaml: true
    case .none, .lines, .file, .eventStream, .webSocket: false
    }
  }

  private static let digestBytes = 16

  private static func digest(_ bytes: ByteBuffer) -> String {
    var digest = SHA256()
    bytes.withUnsafeReadableBytes { digest.update(bufferPointer: $0) }
    return Hexadecimal.text(digest.finalize().prefix(digestBytes))
  }

  private func encoded(_ response: Response, _ bytes: ByteBuffer) async throws -> Response {
    var response = response
    response.headers.addVary("Accept-Encoding")
    guard GzipCoding.isAccepted(by: request.headers[.acceptEncoding]) else { return response }
    // A long body would delay the other connections of the event loop.
    let encoded =
      bytes.readableBytes <= Limits.inlineCompressionBytes
      ? GzipCoding.encode(bytes)
      : try await NIOThreadPool.singleton.runIfActive { GzipCoding.encode(bytes) }
    guard let encoded else { return response }
    response.headers[.contentEncoding] = GzipCoding.name
    response.body = ResponseBody(byteBuffer: encoded)
    return response
  }
}
