import Testing

@testable import ChatPush

@Suite("The threads of attempts")
struct AttemptThreadsSpecs {
  @Test("an attempt begins on the thread with the fewest, and on the first if all are idle")
  func fewest() {
    var threads = AttemptThreads(count: 2)
    #expect((0..<4).map { _ in threads.begin() } == [0, 1, 0, 1])
    threads.end(1)
    threads.end(1)
    #expect(threads.begin() == 1 && threads.begin() == 1 && threads.begin() == 0)
    for thread in [0, 0, 0, 1, 1] { threads.end(thread) }
    for _ in 0..<3 {
      #expect(threads.begin() == 0)
      threads.end(0)
    }
  }

  @Test("without threads, attempts begin without one")
  func none() {
    var threads = AttemptThreads(count: 0)
    #expect(threads.begin() == nil)
    threads.end(nil)
  }
}
