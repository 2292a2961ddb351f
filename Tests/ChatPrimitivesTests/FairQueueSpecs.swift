import Testing

@testable import ChatPrimitives

@Suite("A fair queue")
struct FairQueueSpecs {
  private typealias Queue = FairQueue<String, Int>

  /// A queue whose only slot ben holds, with these waiting tickets.
  private func queue(_ tickets: (String, Int)..., slots: Int = 1, waitingLimit: Int = 100) -> Queue {
    var queue = Queue(slots: slots, slotsOfUser: 1, waitingLimit: waitingLimit)
    #expect(queue.enter(0, of: "ben") == .admitted)
    for (user, ticket) in tickets { #expect(queue.enter(ticket, of: user) == .waits(evicted: nil)) }
    return queue
  }

  @Test("lets users take turns, and each user's tickets in their order")
  func turns() {
    var queue = queue(("anna", 1), ("anna", 2), ("anna", 3), ("cleo", 4), ("cleo", 5), ("dora", 6))
    #expect(queue.leave("ben") == 1)
    #expect(queue.leave("anna") == 4)
    #expect(queue.leave("cleo") == 6)
    #expect(queue.leave("dora") == 2)
    #expect(queue.leave("anna") == 5)
    #expect(queue.leave("cleo") == 3)
    #expect(queue.leave("anna") == nil)
    #expect(queue.enter(7, of: "anna") == .admitted)
  }

  @Test("gives a slot to another user if the first one has reached the limit")
  func slotsOfUser() {
    var queue = queue(("ben", 1), slots: 2)
    #expect(queue.enter(2, of: "anna") == .admitted)
    #expect(queue.leave("anna") == nil)
    #expect(queue.leave("ben") == 1)
  }

  @Test("drops tickets of the user with the most, down to equal shares")
  func eviction() {
    var queue = queue(("anna", 1), ("anna", 2), ("anna", 3), waitingLimit: 3)
    #expect(queue.enter(4, of: "anna") == .full)
    #expect(queue.enter(5, of: "cleo") == .waits(evicted: 3))
    // It is two against one: one more ticket of cleo would only swap the shares.
    #expect(queue.enter(6, of: "cleo") == .full)
    #expect(queue.enter(7, of: "dora") == .waits(evicted: 2))
    #expect(queue.enter(8, of: "emil") == .full)
    #expect(queue.waitingCount == 3)
  }

  @Test("forgets a ticket that is withdrawn, and its place")
  func withdrawal() {
    var queue = queue(("anna", 1), ("cleo", 2), ("cleo", 3), waitingLimit: 3)
    var isWithdrawn = queue.withdraw(1, of: "anna")
    #expect(isWithdrawn)
    isWithdrawn = queue.withdraw(1, of: "anna")
    #expect(!isWithdrawn)
    #expect(queue.enter(4, of: "dora") == .waits(evicted: nil))
    #expect(queue.leave("ben") == 2)
    isWithdrawn = queue.withdraw(2, of: "cleo")
    #expect(!isWithdrawn)
    #expect(queue.leave("cleo") == 4)
  }

  @Test("takes exactly as many as may wait", arguments: [1, 2, 64])
  func limit(waitingLimit: Int) {
    var queue = queue(waitingLimit: waitingLimit)
    for ticket in 1...waitingLimit { #expect(queue.enter(ticket, of: "anna") == .waits(evicted: nil)) }
    #expect(queue.enter(waitingLimit + 1, of: "anna") == .full)
    #expect(queue.leave("ben") == 1)
    #expect(queue.enter(waitingLimit + 1, of: "anna") == .waits(evicted: nil))
  }
}
