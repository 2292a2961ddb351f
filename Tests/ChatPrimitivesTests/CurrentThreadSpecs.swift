import ChatPrimitives
import Dispatch
import Foundation
import Synchronization
import Testing

@Suite("The name of a thread")
struct CurrentThreadSpecs {
  @Test("is what the system shows, however early the thread runs")
  func early() async {
    let names = (0..<300).map { "early-\($0)" }
    let started = DispatchGroup()
    let shown = Mutex<Set<String>>([])
    for name in names {
      started.enter()
      LowPriorityThread.start(name) {
        let comm = (try? String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8)) ?? ""
        _ = shown.withLock { $0.insert(comm.trimmingCharacters(in: .newlines)) }
        started.leave()
      }
    }
    await withCheckedContinuation { done in started.notify(queue: .global()) { done.resume() } }
    #expect(shown.withLock { $0 } == Set(names))
  }

  @Test("has at most 15 bytes")
  func long() async {
    let shown = await withCheckedContinuation { done in
      LowPriorityThread.start("a-name-of-23-characters") {
        done.resume(returning: try? String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8))
      }
    }
    #expect(shown == "a-name-of-23-ch\n")
  }
}
