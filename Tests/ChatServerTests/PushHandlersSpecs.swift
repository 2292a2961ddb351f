import ChatPrimitives
import ChatProtocol
import ChatService
import HTTPTypes
import Testing

@testable import ChatServer

@Suite("Explanations of push", .timeLimit(.minutes(1)))
struct PushHandlersSpecs {
  private static let decisions = PushDecisions(
    position: .first, time: Timestamp(milliseconds: 0), devices: [], more: false, head: .first)

  @Test("are made one at a time, also if the one before failed; another is refused at once")
  func oneAtATime() async throws {
    try await withService { opened in
      let (entered, entering) = AsyncStream<Void>.makeStream()
      let (left, leaving) = AsyncStream<Void>.makeStream()
      let handlers = PushHandlers(chat: opened.chat) { position, _ in
        entering.yield()
        for await _ in left { break }
        if position == .origin { throw PushExplanationFailure.notifiesNobody }
        return Self.decisions
      }
      for position in [LogPosition.first, .origin, .first] {
        let first = Task { try await handlers.explain(position, nil) }
        for await _ in entered { break }
        let refusal = await #expect(throws: ServiceError.self) { try await handlers.explain(.first, nil) }
        #expect(try ProblemMapping(#require(refusal)).code == "overloaded")
        leaving.yield()
        let result = await first.result
        if position == .origin {
          #expect(throws: Refusal.pushNotExplained(.notifiesNobody)) { try result.get() }
        } else {
          #expect(try result.get() == Self.decisions)
        }
      }
      try opened.close()
    }
  }

  @Test(
    "fail with stable codes",
    arguments: [
      (PushExplanationFailure.unknownPosition(head: LogPosition(7)), "position_not_found", 404),
      (.notifiesNobody, "notifies_nobody", 422), (.tookTooLong, "log_too_long", 422),
    ])
  func failures(failure: PushExplanationFailure, code: String, status: Int) {
    let mapping = ProblemMapping(Refusal.pushNotExplained(failure))
    #expect(mapping.code == code && mapping.status.code == status)
    #expect(!mapping.isOfTheMachine)
  }
}
