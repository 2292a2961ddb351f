import CEpoll
import Glibc

/// Says which descriptors can be read (epoll).
struct Poller {
  private static let eventsAtOnce = 512

  private let descriptor = epoll_create1(0)
  private let events = UnsafeMutableBufferPointer<epoll_event>.allocate(capacity: eventsAtOnce)

  /// - Parameter number: what `wait` gives back.
  func add(_ descriptor: Int32, _ number: Int) throws {
    var event = epoll_event()
    event.events = EPOLLIN.rawValue
    event.data.u64 = UInt64(number)
    guard epoll_ctl(self.descriptor, EPOLL_CTL_ADD, descriptor, &event) == 0 else { throw Failure(system: "epoll_ctl") }
  }

  /// Calls `body` with the number of each descriptor that can be read.
  /// - Parameter milliseconds: how long to wait for the first one.
  /// - Returns: how many there were.
  @discardableResult
  func wait(milliseconds: Int32, _ body: (Int) throws -> Void) throws -> Int {
    let count = epoll_wait(descriptor, events.baseAddress, Int32(events.count), milliseconds)
    for event in events.prefix(max(0, Int(count))) { try body(Int(event.data.u64)) }
    return max(0, Int(count))
  }

  func close() {
    Glibc.close(descriptor)
    events.deallocate()
  }
}
