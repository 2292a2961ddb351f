import ChatPrimitives
import Synchronization
import Testing

@Suite("Waiting for a slot without a task")
struct AsyncSemaphoreSpecs {
  private typealias Slots = AsyncSemaphore<String>

  /// What the callbacks got, in the order of their calls. This is a class, because the callbacks share it.
  private final class Calls: Sendable {
    let all = Mutex<[String]>([])
    let slots = Mutex<[Slots.Slot]>([])

    /// Waits, and keeps the slot.
    func wait(_ name: String, at place: Slots.Place) {
      place.wait { turn in
        switch turn {
        case .success(let slot):
          self.all.withLock { $0.append(name) }
          self.slots.withLock { $0.append(slot) }
        case .failure: self.all.withLock { $0.append("\(name) turned away") }
        }
      }
    }

    /// Releases the slot that was given last. That calls the next callback, so it must not hold the lock.
    func release() {
      let slot = slots.withLock { $0.popLast() }
      withExtendedLifetime(slot) {}
    }

    var names: [String] { all.withLock { $0 } }
  }

  private let calls = Calls()

  /// A semaphore with one slot, which ben has.
  private func semaphore(waitingLimit: Int = 100) -> Slots {
    let slots = Slots(1, ofUser: 1, waitingLimit: waitingLimit)
    calls.wait("ben", at: slots.place(for: "ben"))
    #expect(calls.names == ["ben"], "the slot is free, so the callback comes at once")
    return slots
  }

  @Test("users take turns, and each user's callbacks come in their order")
  func order() {
    let slots = semaphore()
    for (name, user) in [("anna 1", "anna"), ("anna 2", "anna"), ("cleo", "cleo")] {
      calls.wait(name, at: slots.place(for: user))
    }
    #expect(slots.waitingCount == 3)
    for _ in 0..<4 { calls.release() }
    #expect(calls.names == ["ben", "anna 1", "cleo", "anna 2"])
    #expect(slots.takeIfFree(for: "dora") != nil)
  }

  @Test("a place is in the queue only from its wait on, and no longer once it was left")
  func leaving() {
    let slots = semaphore()
    let (anna, cleo) = (slots.place(for: "anna"), slots.place(for: "cleo"))
    #expect(slots.waitingCount == 0)
    calls.wait("anna", at: anna)
    calls.wait("cleo", at: cleo)
    anna.leave()
    anna.leave()
    #expect(slots.waitingCount == 1)
    calls.release()
    #expect(calls.names == ["ben", "cleo"])
    cleo.leave()
    #expect(slots.takeIfFree(for: "dora") == nil, "cleo has the slot, and leaving the queue does not release it")
    calls.release()
    #expect(slots.takeIfFree(for: "dora") != nil)
  }

  @Test("a callback that does not keep its slot leaves it to the next one")
  func dropping() {
    let slots = semaphore()
    let dropped = Mutex(0)
    for _ in 0..<3 {
      slots.place(for: "anna").wait { _ in dropped.withLock { $0 += 1 } }
    }
    calls.wait("anna", at: slots.place(for: "anna"))
    calls.release()
    #expect(dropped.withLock { $0 } == 3)
    #expect(calls.names == ["ben", "anna"])
  }

  @Test("a callback is turned away when the queue is full, and when another user takes its place")
  func full() {
    let slots = semaphore(waitingLimit: 2)
    for name in ["anna 1", "anna 2", "anna 3"] { calls.wait(name, at: slots.place(for: "anna")) }
    #expect(calls.names == ["ben", "anna 3 turned away"])
    calls.wait("cleo", at: slots.place(for: "cleo"))
    #expect(calls.names == ["ben", "anna 3 turned away", "anna 2 turned away"])
    for _ in 0..<3 { calls.release() }
    #expect(calls.names.suffix(2) == ["anna 1", "cleo"])
  }

  @Test("tasks and callbacks wait in one queue", .timeLimit(.minutes(1)))
  func tasks() async throws {
    let slots = semaphore()
    let task = Task {
      let slot = try await slots.take(for: "anna")
      calls.all.withLock { $0.append("anna") }
      withExtendedLifetime(slot) {}
    }
    while slots.waitingCount < 1 { await Task.yield() }
    calls.wait("cleo", at: slots.place(for: "cleo"))
    calls.release()
    try await task.value
    while calls.names.count < 3 { await Task.yield() }
    #expect(calls.names == ["ben", "anna", "cleo"])
  }
}
