import ChatDomain
import ChatPrimitives
import ChatProtocol
import ChatService
import HTTPTypes

extension StreamEnding {
  /// The same ending as an error, for a stream that was not opened.
  var refusal: any Error {
    switch self {
    case .sessionEnded: ServiceError.rejected(.sessionEnded)
    case .accountDisabled: ServiceError.rejected(.accountDisabled)
    case .accessTokenExpired: Refusal.accessTokenExpired
    case .shuttingDown: ServiceError.shuttingDown
    case .tooSlow, .failed: ServiceError.overloaded
    }
  }

  /// The last frame of a stream.
  var end: StreamEnd {
    switch self {
    case .sessionEnded, .accountDisabled, .accessTokenExpired: StreamEnd(refusing: refusal)
    case .shuttingDown(let milliseconds):
      StreamEnd(
        code: ProblemCode.shuttingDown.rawValue,
        detail: "The server is stopping. Resume with your cursor after the given time.",
        resumeAfterMilliseconds: milliseconds)
    case .tooSlow:
      StreamEnd(
        code: ProblemCode.readerTooSlow.rawValue,
        detail: "Too much was sent that you did not read. Resume with your cursor.",
        resumeAfterMilliseconds: Self.pause)
    case .failed:
      StreamEnd(
        code: ProblemCode.internalError.rawValue, detail: "The server failed. Resume with your cursor.",
        resumeAfterMilliseconds: Self.pause)
    }
  }

  fileprivate static var pause: Int { .random(in: 0...Limits.streamResumeMilliseconds) }
}

extension StreamEnd {
  /// A stream that was not opened, or that ends because of what its client is or did.
  init(refusing error: any Error) {
    let mapping = ProblemMapping(error)
    let seconds = mapping.headers[.retryAfter].flatMap { Int($0) } ?? (mapping.isOfTheMachine ? 0 : nil)
    let milliseconds = seconds.map { $0 * 1000 + StreamEnding.pause }
    self.init(code: mapping.code, detail: mapping.detail, resumeAfterMilliseconds: milliseconds)
  }
}
