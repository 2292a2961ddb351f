package import ChatPrimitives

/// The state machine of one stream. It decides what to do next, and `LiveStream` does it.
///
/// A stream is a loop of catch-ups. It reads from its position, sends what it read, and waits until it is woken. Only a
/// read moves the position, and the next read continues there, so nothing is lost or repeated, whatever happens in
/// between. A stream subscribes before its first read, and remembers the newest position for which it was woken while it
/// reads and sends. So it waits only when it has read everything for which it was woken.
package struct SyncStream: Sendable, Hashable {
  package enum State: Sendable, Hashable {
    /// The client has not authenticated.
    case waiting
    case reading(after: SyncPosition?)
    case sending(SyncPage)
    /// Everything that the stream was woken for has been sent.
    case idle(at: SyncPosition)
    case ended(StreamEnding)
  }

  package enum Input: Sendable, Hashable {
    /// The client may read, and has everything up to `since`; nil if it has nothing.
    case authenticated(since: SyncPosition?)
    case read(SyncPage)
    /// The page could not be read. The stream tries again later.
    case readFailed
    /// The client has taken the page.
    case sent
    case woken(through: LogPosition)
    /// What a read from the position of an idle stream would return.
    case supplied(SyncPage)
    case ended(StreamEnding)
  }

  package enum Action: Sendable, Hashable {
    /// Reads the next page. If a catch-up begins with it, that ends at the target, or at the head if there is none.
    case read(after: SyncPosition?, target: LogPosition?)
    /// The same, after `Limits.streamRetryMilliseconds`.
    case readLater(after: SyncPosition?, target: LogPosition?)
    case send(SyncPage)
    /// Waits for the next input.
    case wait
    case end(StreamEnding)
  }

  package private(set) var state = State.waiting
  /// The newest position for which the stream was woken.
  package private(set) var wokenThrough = LogPosition.origin

  package init() {}

  /// An input that does not fit the state changes nothing: it comes from an action that was abandoned.
  package mutating func take(_ input: Input) -> Action {
    switch (state, input) {
    case (.ended(let ending), _): return .end(ending)
    case (_, .ended(let ending)):
      state = .ended(ending)
      return .end(ending)
    case (.waiting, .authenticated(let since)): return read(after: since)
    case (.reading, .read(let page)): return take(page)
    case (.reading(let position), .readFailed): return .readLater(after: position, target: target(after: position))
    case (.sending(let page), .sent): return proceed(after: page)
    case (.idle(let position), .woken(let through)):
      wokenThrough = max(wokenThrough, through)
      return proceed(at: position)
    case (.idle, .supplied(let page)): return take(page)
    case (_, .woken(let through)):
      wokenThrough = max(wokenThrough, through)
      return .wait
    case (_, .authenticated), (_, .read), (_, .readFailed), (_, .supplied), (_, .sent): return .wait
    }
  }

  /// The position for which the stream was woken, unless it has read that far. Then a catch-up ends at the head.
  private func target(after position: SyncPosition?) -> LogPosition? {
    position.flatMap { wokenThrough > $0.position ? wokenThrough : nil }
  }

  private mutating func read(after position: SyncPosition?) -> Action {
    state = .reading(after: position)
    return .read(after: position, target: target(after: position))
  }

  private mutating func take(_ page: SyncPage) -> Action {
    guard !page.items.isEmpty else { return proceed(after: page) }
    state = .sending(page)
    return .send(page)
  }

  private mutating func proceed(after page: SyncPage) -> Action {
    page.more ? read(after: page.next) : proceed(at: page.next)
  }

  private mutating func proceed(at position: SyncPosition) -> Action {
    if wokenThrough > position.position { return read(after: position) }
    state = .idle(at: position)
    return .wait
  }
}
