import ChatDomain
import ChatPrimitives
import ChatProjections
import ChatService
import EventLog
import EventStore
import Logging
import Testing

@testable import ChatServer

/// The stream of commands of an ingest. After one fails because of a server error, no later command is decided.
@Suite struct BulkStreamTests {
  private static let room = RoomID(UUIDBytes(high: 1, low: 1))
  private static let service = ServiceID(UUIDBytes(high: 9, low: 9))

  private static func creation(_ number: UInt64, asOf: LogPosition, _ order: CommandOrder?) -> ChatCommand {
    let context = CommandContext(
      actor: nil, service: service, session: nil, device: nil, command: nil, time: Timestamp(milliseconds: 0),
      originalTime: nil)
    let id = RoomID(UUIDBytes(high: 1, low: number))
    var command = ChatCommand(
      context: context,
      operation: .room(id, .lifecycle(.create(RoomCreation(kind: .group, name: "Tea", creator: nil)))),
      knownAsOf: asOf)
    command.order = order
    return command
  }

  @Test("After a stale lookup the writer decides nothing more of the row, but all other commands")
  func staleLookup() {
    let floor = LogPosition(10)
    var state = DecisionState(knownIDs: KnownIDs(KnownIDFilter(), newest: floor), floor: floor)
    let order = CommandOrder()
    func isDone(_ number: UInt64, asOf: UInt64, _ order: CommandOrder?) -> Bool {
      let command = Self.creation(number, asOf: LogPosition(asOf), order)
      let decision = state.decide(command, next: LogPosition(20 + number), now: Timestamp(milliseconds: 1))
      return !decision.events.isEmpty
    }
    #expect(isDone(1, asOf: 10, order))
    #expect(!isDone(2, asOf: 9, order))
    #expect(order.isBroken)
    #expect(!isDone(3, asOf: 10, order))
    #expect(isDone(3, asOf: 10, nil))
    #expect(isDone(4, asOf: 10, CommandOrder()))
  }

  private func requests(_ numbers: ClosedRange<UInt64>) -> [ChatService.Request] {
    numbers.map { number in
      let creation = RoomCreation(kind: .group, name: "Tea", creator: nil)
      return ChatService.Request(
        Principal(service: Self.service), .room(RoomID(UUIDBytes(high: 1, low: number)), .lifecycle(.create(creation))))
    }
  }

  private func code(_ result: BulkResult) -> String {
    switch result {
    case .success(let receipt): receipt.isNew ? "new" : "repeat"
    case .failure(let error): ProblemMapping(error).code
    }
  }

  @Test("Results come in order, and repeats are known")
  func order() async throws {
    try await withService { opened in
      let stream = BulkStream(chat: opened.chat)
      let first = await stream.enqueue(requests(1...3))
      let second = await stream.enqueue(requests(2...4))
      #expect(await first.results().map(code) == ["new", "new", "new"])
      #expect(await second.results().map(code) == ["repeat", "repeat", "new"])
      #expect(stream.ended == nil)
      try opened.close()
    }
  }

  @Test("A row that has ended decides nothing more, and says why each time")
  func ended() async throws {
    try await withService { opened in
      let stream = BulkStream(chat: opened.chat)
      _ = await stream.enqueue(requests(1...1)).results()
      stream.end(.projectionBehind)
      stream.end(.overloaded)
      let head = opened.chat.status.head
      #expect(
        await stream.enqueue(requests(2...4)).results().map(code) == Array(repeating: "projection_behind", count: 3))
      #expect(opened.chat.status.head == head)
      try opened.close()
    }
  }

  @Test("A server that stops ends the row")
  func closed() async throws {
    try await withService { opened in
      let stream = BulkStream(chat: opened.chat)
      try opened.close()
      #expect(await stream.enqueue(requests(1...2)).results().map(code) == ["shutting_down", "shutting_down"])
      guard case .shuttingDown = stream.ended else {
        Issue.record("the row goes on")
        return
      }
    }
  }

  @Test("After a failure of the machine every later line still has a result")
  func laterLines() async throws {
    try await withService { opened in
      let stream = BulkStream(chat: opened.chat)
      var results = IngestResults(logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
      func lines(_ range: ClosedRange<UInt64>, _ bad: Refusal) async -> [String] {
        let batch = IngestBatch(
          lines: [(1, .queued), (2, .refused(bad)), (3, .queued)], commands: await stream.enqueue(requests(range)))
        return await results.results(of: batch).map { line in
          switch line.result {
          case .done: "done"
          case .refused(let refusal): refusal.code
          }
        }
      }
      #expect(await lines(1...2, .invalidUTF8) == ["done", "invalid_utf8", "done"])
      stream.end(.overloaded)
      #expect(await lines(3...4, .invalidUTF8) == ["overloaded", "overloaded", "overloaded"])
      try opened.close()
    }
  }
}
