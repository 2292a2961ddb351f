import ChatDomain
import ChatPrimitives
import EventStore
import GRDB
import ProcessorTime
import Testing

@testable import ChatProjections

/// What a message costs in a burst, when a transaction has many. Allocations and the steps of SQLite's virtual machine have
/// limits in `test_allocations.py`; these limits are for the processor time besides.
@Suite("The processor time of a message in the read models")
struct ViewCostSpecs {
  private static let rooms = 40
  private static let members = 20
  private static let messages = 4_096
  private static let rounds = 5

  /// The number of events before the messages, and all events.
  private static let (before, events): (Int, [RecordedEvent]) = {
    var script = EventScript()
    for room in 1...rooms {
      script.create(.numbered(UInt64(room)), by: .numbered(1))
      for member in 2...members {
        let user = UserID.numbered(UInt64(member))
        script.room(.numbered(UInt64(room)), .members(.joined(user, role: .member, invite: nil)), by: user)
      }
    }
    let before = script.events.count
    for number in 0..<messages {
      script.send(
        to: .numbered(UInt64(number % rooms + 1)), by: .numbered(UInt64(number / rooms % members + 1)),
        firstID: UInt64(1_000 + number))
    }
    return (before, script.events)
  }()

  /// The processor time of all messages.
  private func spent<P: Projection>(_ type: P.Type) throws -> Duration {
    let queue = try build(type, Array(Self.events.prefix(Self.before)))
    return try ProcessorTime.spent { try apply(type, Self.events, from: Self.before, to: queue) }
  }

  /// As many rows in a table without an index.
  private func bareRows() throws -> Duration {
    let queue = try DatabaseQueue()
    try queue.write { try $0.execute(sql: "CREATE TABLE bare (number INTEGER PRIMARY KEY, text TEXT) STRICT") }
    return try ProcessorTime.spent {
      try queue.write { database in
        let insert = try CachedStatement(database, "INSERT INTO bare (number, text) VALUES (?, ?)")
        for number in 0..<Self.messages { try insert.run(number, "text \(number)") }
      }
    }
  }

  // When the limits were set, the ratios in two runs were 2.8 and 2.9, 2.5 and 3.2, 1.7 and 2.4, 3.1 and 4.9, 0.03 and 0.04.
  @Test(
    "a message costs at most so many times a row in a table without an index",
    arguments: [("rooms", 6.0), ("timeline", 6), ("ids", 5), ("search", 10), ("accounts", 0.1)])
  func message(name: String, limit: Double) throws {
    let projection = try #require(Projections.all.first { $0.name == name })
    let costs = try (0..<Self.rounds).map { _ in try spent(projection) / bareRows() }
    // The minimum leaves out rounds that other work slowed down.
    #expect(costs.min() ?? .infinity < limit, "\(costs)")
  }
}
