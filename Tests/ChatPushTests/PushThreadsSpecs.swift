import Testing

@testable import ChatPush

@Suite("The threads that send notifications")
struct PushThreadsSpecs {
  @Test("a task knows the thread on which it runs, before and after it has waited")
  func current() async {
    let threads = PushThreads()
    #expect(threads.attempts.count == threads.loops.count && threads.current == nil)
    for (index, executor) in threads.attempts.enumerated() {
      let found = await Task(executorPreference: executor) {
        let before = threads.current
        await Task.yield()
        return [before, threads.current]
      }.value
      #expect(found == [index, index])
    }
    let dispatching = await Task(executorPreference: threads.dispatching) { threads.current }.value
    #expect(dispatching == nil)
  }
}
