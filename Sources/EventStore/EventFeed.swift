public import ChatDomain
public import ChatPrimitives

/// A source of the durable events, in order, for components that derive state from them.
package protocol EventFeed: AnyObject, Sendable {
  /// The last durable position.
  var head: LogPosition { get }

  /// Returns the events that follow `position`, in order and without gaps: about `limit` of them, because a block that
  /// is read from disk is returned whole; fewer if they are long; none at the head. This blocks, so call it from a thread
  /// that may block.
  func events(after position: LogPosition, limit: Int) throws -> [RecordedEvent]

  /// Blocks the calling thread until the head is beyond `position`.
  /// - Returns: false if the feed was closed and no more events will come.
  func waitForHead(beyond position: LogPosition) -> Bool

  /// Does the same, but also returns false once `isInterrupted` returns true. `isInterrupted` is called before each
  /// wait, and therefore again after each `wakeWaiters`.
  func waitForHead(beyond position: LogPosition, unless isInterrupted: () -> Bool) -> Bool

  /// Makes every thread that waits for the head call `isInterrupted` again. It is cheap and can be called from any
  /// thread.
  func wakeWaiters()

  /// Call it when every follower has applied the events up to `position`, so that they need not stay in memory.
  func release(through position: LogPosition)
}

extension EventFeed {
  /// Defaults for feeds on which no thread waits.
  package func waitForHead(beyond position: LogPosition, unless isInterrupted: () -> Bool) -> Bool {
    waitForHead(beyond: position)
  }

  package func wakeWaiters() {}

  /// Does nothing, because a feed that keeps nothing in memory has nothing to release.
  package func release(through position: LogPosition) {}
}
