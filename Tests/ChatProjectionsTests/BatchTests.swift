import ChatDomain
import ChatPrimitives
import GRDB
import Testing

@testable import ChatProjections

@Suite struct BatchTests {
  @Test(
    "the same events give the same rows in every table, however they are cut into batches",
    arguments: ["accounts", "rooms", "timeline", "ids", "media", "search"])
  func independence(name: String) throws {
    let history = RandomHistory(seed: 21, events: 3000)
    let projection = try Projections.named(name)
    let whole = try dump(build(projection, history.events, batch: 4096), projection)
    #expect(whole.values.allSatisfy { _ in true } && (whole["checkpoint"]?.count == 1))
    #expect(whole.values.map(\.count).reduce(0, +) > 10)
    for batch in [1, 7, 1000] {
      #expect(try dump(build(projection, history.events, batch: batch), projection) == whole, "batches of \(batch)")
    }
  }

  @Test("a batch that does not follow the checkpoint is refused")
  func gap() throws {
    let history = RandomHistory(seed: 22, events: 100)
    let queue = try build(TimelineProjection.self, Array(history.events.prefix(10)))
    var projection = TimelineProjection()
    for events in [Array(history.events[11...20]), Array(history.events[9...20]), []] {
      let error = #expect(throws: ProjectionError.self) {
        try queue.write { (database) throws in
          _ = try ProjectionBatch.apply(events, after: LogPosition(10), with: &projection, to: database)
        }
      }
      #expect(error?.code == .feedGap)
    }
  }

  @Test("an unknown projection's name is refused with the names there are")
  func unknownName() {
    let error = #expect(throws: ProjectionError.self) { try Projections.named("nonsense") }
    #expect(error?.code == .unknownProjection)
    #expect(error?.message.contains("accounts, rooms, timeline, ids, media, usage, search") == true)
  }
}
