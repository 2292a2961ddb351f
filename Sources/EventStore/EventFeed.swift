public import ChatDomain
public import ChatPrimitives

/// The durable events, in order, for whoever derives something from them.
package protocol EventFeed: AnyObject, Sendable {
  /// The last durable position.
  var head: LogPosition { get }

  /// The events that follow `position`, in order and without a gap: about `limit` of them (a block that had to be read
  /// from disk is given whole), none at the head. Blocks: call it from a thread that may.
  func events(after position: LogPosition, limit: Int) throws -> [RecordedEvent]

  /// Blocks the calling thread until the head lies beyond `position`.
  /// - Returns: false when the feed was closed and nothing more will come.
  func waitForHead(beyond position: LogPosition) -> Bool

  /// The same, but also returns false once `isInterrupted` returns true. It is asked before each wait, so again after
  /// each `wakeWaiters`.
  func waitForHead(beyond position: LogPosition, unless isInterrupted: () -> Bool) -> Bool

  /// Makes every thread that waits for the head ask `isInterrupted` again. Cheap, and may be called from any thread.
  func wakeWaiters()

  /// Every follower has applied the events up to `position`; they need not be kept in memory.
  func release(through position: LogPosition)
}

extension EventFeed {
  /// For feeds that nobody waits for.
  package func waitForHead(beyond position: LogPosition, unless isInterrupted: () -> Bool) -> Bool {
    waitForHead(beyond: position)
  }

  package func wakeWaiters() {}

  /// A feed that keeps nothing in memory has nothing to release.
  package func release(through position: LogPosition) {}
}
