import ChatDomain
import ChatService
import Glibc
import HTTPTypes
import NIOCore
import Testing

@testable import ChatServer

@Suite struct ProblemMappingTests {
  @Test(
    "What the machine cannot do now is 503, and says when to try again",
    arguments: [
      (ServiceError.overloaded, "overloaded"), (.projectionBehind, "projection_behind"),
      (.logPoisoned, "log_poisoned"), (.shuttingDown, "shutting_down"),
    ])
  func unavailable(error: ServiceError, code: String) throws {
    let mapping = ProblemMapping(error)
    #expect(mapping.code == code)
    #expect(mapping.status == .serviceUnavailable)
    #expect(mapping.headers[.retryAfter] == "1")
    #expect(mapping.isOfTheMachine)
  }

  @Test("A failure is 500, without a time to try again and without its inside")
  func failure() {
    struct Unknown: Error {}
    for error in [ServiceError.failed("no such table: message"), Unknown()] as [any Error] {
      let mapping = ProblemMapping(error)
      #expect(mapping.code == "internal_error")
      #expect(mapping.status == .internalServerError)
      #expect(mapping.headers[.retryAfter] == nil)
      #expect(!mapping.detail.contains("table"))
      #expect(mapping.isOfTheMachine)
    }
  }

  @Test("A body of an upload that cannot be read is refused as any other body is")
  func unreadable() {
    for (refusal, code) in [
      (Refusal.malformedRequest("rule"), "malformed_request"), (.headersTooLarge, "headers_too_large"),
    ] {
      let mapping = ProblemMapping(ServiceError.unreadable(refusal))
      #expect(mapping.code == code)
      #expect(!mapping.isOfTheMachine)
    }
  }

  @Test("A client that resets its connection is no failure, and a disk that fails is one")
  func lostConnection() {
    for error in [
      ChannelError.ioOnClosedChannel, IOError(errnoCode: ECONNRESET, reason: "write"), CancellationError(),
      ServiceError.unreadable(CancellationError()),
    ] as [any Error] {
      #expect(ProblemMapping.isCausedByClient(error), "\(error)")
    }
    for error in [ServiceError.failed("disk"), IOError(errnoCode: EIO, reason: "read")] as [any Error] {
      #expect(!ProblemMapping.isCausedByClient(error), "\(error)")
    }
  }

  @Test("Every 401 says how to authenticate, and nothing else does")
  func authenticate() {
    for rejection in Rejection.allCases {
      let mapping = ProblemMapping(ServiceError.rejected(rejection))
      #expect((mapping.headers[.wwwAuthenticate] != nil) == (mapping.status == .unauthorized), "\(rejection)")
      #expect(!mapping.isOfTheMachine)
    }
    for refusal in [Refusal.accessTokenMissing, .accessTokenInvalid, .accessTokenExpired, .refreshTokenInvalid] {
      #expect(ProblemMapping(refusal).headers[.wwwAuthenticate]?.hasPrefix("Bearer") == true)
    }
    #expect(ProblemMapping(Refusal.accessTokenMissing).headers[.wwwAuthenticate] == "Bearer")
  }

  @Test("A method that a path does not allow gets the list of allowed ones")
  func allow() {
    #expect(ProblemMapping(Refusal.methodNotAllowed(allowed: ["GET", "PUT"])).headers[.allow] == "GET, PUT")
  }

  @Test("No two problems share a code, and each has a status of a problem")
  func codes() {
    let codes = ProblemCode.everyCode
    #expect(Set(codes.map(\.code)).count == codes.count)
    #expect(codes.allSatisfy { (400...599).contains($0.status) })
  }
}
