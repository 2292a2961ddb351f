import Testing

@testable import ChatProjections

@Suite("Gathering events for a transaction")
struct EventGatheringSpecs {
  /// The number of delays if so many events arrive in each.
  private func delays(_ arriving: UInt64, enough: UInt64 = 1_000, longest: Int = 250) -> Int {
    var gathering = EventGathering(delay: 50, longest: longest, enough: enough)
    var count: UInt64 = 1
    while gathering.goesOn(waiting: count * arriving) { count += 1 }
    return Int(count)
  }

  @Test("while few events arrive, there is one delay", arguments: [0, 1, EventGathering.busyEvents - 1])
  func quiet(arriving: UInt64) {
    #expect(delays(arriving) == 1)
  }

  @Test("while many arrive, delays follow each other up to the longest time")
  func busy() {
    #expect(delays(EventGathering.busyEvents) == 5)
    #expect(delays(EventGathering.busyEvents, longest: 50) == 1)
    #expect(delays(EventGathering.busyEvents, longest: 0) == 1)
    #expect(delays(EventGathering.busyEvents, longest: 249) == 4)
  }

  @Test("no delay follows when enough events are waiting")
  func enough() {
    #expect(delays(400) == 3)
    #expect(delays(500) == 2)
    #expect(delays(499) == 3)
    #expect(delays(1_000) == 1)
  }

  @Test("when fewer events arrive than before, gathering ends")
  func ending() {
    var gathering = EventGathering(delay: 50, longest: 250, enough: 1_000)
    let goesOn = [100, 100 + EventGathering.busyEvents - 1].map { gathering.goesOn(waiting: $0) }
    #expect(goesOn == [true, false])
  }

  @Test("read models that requests seldom wait for gather for longest")
  func settings() {
    #expect(EventGathering(IDIndexProjection.self, hasRecentReader: true).longest == 1_000)
    #expect(EventGathering(RoomsProjection.self, hasRecentReader: true) == EventGathering(TimelineProjection.self, hasRecentReader: true))
    for projection in Projections.all where projection.isAwaited {
      let gathering = EventGathering(projection, hasRecentReader: true)
      #expect(gathering.delay <= gathering.longest && gathering.longest <= 1_000, "\(projection.name)")
    }
  }

  @Test("while nobody reads, read models that gather for longer in bursts gather even more, and the others do not")
  func unread() {
    for projection in Projections.all {
      let (read, unread) = (EventGathering(projection, hasRecentReader: true), EventGathering(projection, hasRecentReader: false))
      guard read.longest > read.delay else {
        #expect(unread == read, "\(projection.name)")
        continue
      }
      #expect(unread.delay == read.delay, "\(projection.name)")
      #expect(unread.longest == 1_000 && unread.enough == 16_384, "\(projection.name)")
    }
    let rooms = EventGathering(RoomsProjection.self, hasRecentReader: true)
    #expect(rooms.delay == 50 && rooms.longest == 250 && rooms.enough == 2_048)
    #expect(EventGathering(AccountsProjection.self, hasRecentReader: false).longest == 250)
  }

  @Test("a reader who had to wait counts for two seconds")
  func lastReader() {
    let now = ContinuousClock.now
    var reader = LastReader()
    #expect(!reader.isRecent(at: now))
    reader.note(at: now)
    #expect(reader.isRecent(at: now + .milliseconds(1_999)))
    #expect(!reader.isRecent(at: now + .milliseconds(2_000)))
    reader.note(at: now + .seconds(5))
    #expect(reader.isRecent(at: now + .seconds(6)))
  }
}
