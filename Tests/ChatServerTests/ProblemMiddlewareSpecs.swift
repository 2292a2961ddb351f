import ChatPrimitives
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import NIOEmbedded
import Testing

@testable import ChatServer

@Suite("The log line of a request that failed")
struct ProblemMiddlewareSpecs {
  /// Content from a user.
  private static let secret = "samovar"

  private struct Field: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  private struct Revealing: Error, CustomStringConvertible {
    var description: String { ProblemMiddlewareSpecs.secret }
  }

  private let log = CapturedLog()

  /// Responds as the server does when the handler of `PUT /v1/invites/{token}` throws this. The token in the request's
  /// path is the secret.
  private func status(whenThrown error: any Error) async throws -> HTTPResponse.Status {
    var limits = RateLimitSettings()
    limits.isOn = false
    let router = Router(context: ServerContext.self)
    router.add(
      middleware: ProblemMiddleware(
        addressRateCheck: AddressRateCheck(
          proxies: TrustedProxies([]), limiter: RateLimiter(limits), isOfService: { _ in false }),
        legacyStatus: LegacyStatus(), problems: ProblemLog(), now: { Timestamp(milliseconds: 0) }))
    router.on("/v1/invites/{token}", method: .put) { (_, _) -> Response in throw error }
    var logger = log.logger
    logger[metadataKey: "hb.request.id"] = "7"
    let head = HTTPRequest(method: .put, scheme: "http", authority: "localhost", path: "/v1/invites/\(Self.secret)")
    let request = Request(head: head, body: RequestBody(buffer: ByteBuffer(string: Self.secret)))
    let channel = NIOAsyncTestingChannel()
    let context = ServerContext(source: ApplicationRequestContextSource(channel: channel, logger: logger))
    let response = try await router.buildResponder().respond(to: request, context: context)
    _ = try await channel.finish()
    return response.status
  }

  private func expectLine(error: String) throws {
    let lines = log.lines.filter { $0.message == "a request failed" }
    let line = try #require(lines.first)
    #expect(lines.count == 1 && line.level == .error)
    #expect(
      line.metadata == ["hb.request.id": "7", "route": "PUT /v1/invites/{token}", "error": error])
    #expect(!log.lines.contains { $0.text.contains(Self.secret) })
  }

  @Test("names the route and the field that could not be encoded, and contains no text of a user")
  func encoding() async throws {
    let context = EncodingError.Context(
      codingPath: [Field(stringValue: "text")], debugDescription: "\(Self.secret) cannot be encoded")
    let error = EncodingError.invalidValue(Self.secret, context)
    #expect(try await status(whenThrown: error) == .internalServerError)
    try expectLine(error: "EncodingError at text")
  }

  @Test("names only the type of an error that describes itself")
  func revealing() async throws {
    #expect(try await status(whenThrown: Revealing()) == .internalServerError)
    try expectLine(error: "Revealing")
  }

  @Test("has the ID, the route and the code if the request was refused")
  func refused() async throws {
    #expect(try await status(whenThrown: Refusal.accessTokenMissing) == .unauthorized)
    #expect(log.lines.filter { $0.level >= .warning }.isEmpty)
    let line = try #require(log.lines.first { $0.level == .notice })
    #expect(
      line.metadata == [
        "hb.request.id": "7", "route": "PUT /v1/invites/{token}", "status": "401", "code": "access_token_missing",
      ])
  }
}
