import ChatDomain
import ChatPrimitives
import ChatProjections
import EventStore
import Foundation
import Logging

/// The state of the feed's thread, and its loop.
///
/// Why no change is missed: a stream first reads after it subscribed, so it has everything up to the head at that time. If
/// its user is in the index when the thread takes the stream, the thread wakes it for every event after `position` that
/// concerns the user, and at once for everything up to `position`. If not, the user is read in a snapshot, and the stream
/// is woken for everything up to the snapshot. `LiveIndex` says why the events after that find the user. `LiveSignals`
/// ignores what the stream has read already.
struct LiveCycle {
  /// How long the thread waits before it tries again, after a read model was behind or the log could not be read.
  private static let retryMilliseconds = 100
  /// How long it waits at most for each read model, and how often it looks for ended sessions meanwhile.
  private static let readModelMilliseconds = 1_000
  private static let readModelLookMilliseconds = 100
  /// How often it looks for expired access tokens and due heartbeats.
  private static let lookMilliseconds = 1_000

  private let feed: LiveFeed
  private var index = LiveIndex()
  private var ephemera: EphemeraCycle
  /// The messages that some streams have not got yet.
  private var pages: LivePages
  /// Streams were woken for all events up to here.
  private var position: LogPosition
  /// The events up to here have been searched for ended sessions and disabled accounts.
  private var examined: LogPosition
  private var lastCycle = ContinuousClock.now
  private var nextLook = ContinuousClock.now
  /// Whether the last cycle could not be finished.
  private var isBehind = false
  /// Whether a failure was logged, and no cycle has been finished since.
  private var isFailing = false

  init(_ feed: LiveFeed) {
    self.feed = feed
    ephemera = EphemeraCycle(feed)
    pages = LivePages(feed.readModels)
    position = feed.store.head
    examined = position
  }

  /// Returns when the feed is stopped.
  mutating func run() {
    while wait() {
      lookAtStreams()
      do {
        try turn()
        isBehind = false
        isFailing = false
      } catch {
        isBehind = true
        report(error)
      }
    }
  }

  /// A read model that is behind reports it itself.
  private mutating func report(_ error: any Error) {
    guard !(error is ProjectionBehind), !isFailing else { return }
    isFailing = true
    feed.logger.error("live streams cannot follow the log; the server tries again", metadata: ["reason": "\(error)"])
  }

  /// Waits until there is something to do, and at least `Limits.liveCycleMilliseconds` since the last cycle.
  /// - Returns: false if the thread should end.
  private mutating func wait() -> Bool {
    let feed = feed
    let isBusy = ephemera.isBusy || !pages.isEmpty
    if isBehind {
      let deadline = MonotonicCondition.Deadline(millisecondsFromNow: Self.retryMilliseconds)
      let never = LogPosition(.max)
      if feed.store.waitForHead(beyond: never, until: deadline, unless: { feed.isStopping }) == .closed { return false }
    } else {
      // Without streams, new events can wait for the next look, so that each message is a little cheaper.
      let isIdle = ephemera.isEmpty && feed.withRegistry { $0.isEmpty }
      let deadline = MonotonicCondition.Deadline(millisecondsFromNow: Self.lookMilliseconds)
      let wait = feed.store.waitForHead(beyond: isIdle ? LogPosition(.max) : position, until: deadline) {
        isBusy || feed.isStopping || feed.hasNews
      }
      if wait == .closed { return false }
    }
    let rest = (lastCycle + .milliseconds(Limits.liveCycleMilliseconds) - .now) / .milliseconds(1)
    if rest > 0, !feed.isStopping { Thread.sleep(forTimeInterval: rest / 1000) }
    lastCycle = .now
    return !feed.isStopping
  }

  private mutating func lookAtStreams() {
    guard ContinuousClock.now >= nextLook else { return }
    nextLook = .now + .milliseconds(Self.lookMilliseconds)
    let now = feed.now()
    for signals in feed.withRegistry({ $0.all }) {
      if signals.checkExpiry(at: now) { feed.end(signals, .accessTokenExpired) } else { signals.beat() }
    }
  }

  // MARK: - One cycle

  private mutating func turn() throws {
    // Before the news of these users, so that it is known since when they are away.
    let departures = feed.withRegistry { $0.takeDepartures() }
    ephemera.begin()
    for user in departures {
      ephemera.leave(user, index)
      index.remove(user)
    }
    try examine()
    let (arrivals, isIdle) = feed.withRegistry { ($0.takeArrivals(), $0.isEmpty) }
    do {
      let reached = isIdle ? examined : try awaitReadModels()
      let loaded = try take(arrivals)
      try wake(through: reached, except: loaded)
    } catch {
      feed.withRegistry { $0.putBack(arrivals) }
      throw error
    }
    try ephemera.show(index)
  }

  /// Ends the streams whose permission has ended, without waiting for a read model.
  private mutating func examine() throws {
    let head = feed.store.head
    try forEach(after: examined, through: head) { events in
      feed.gate.take(events)
      for recorded in events {
        guard case .user(let user, let event) = recorded.event else { continue }
        if case .sessions(.ended(let session, _)) = event {
          end(user, .sessionEnded) { $0.session == session }
        } else if case .account(.disabled) = event {
          end(user, .accountDisabled) { _ in true }
        } else if case .deletion(.deleted) = event {
          end(user, .accountDisabled) { _ in true }
        }
      }
    }
    examined = head
  }

  private func end(_ user: UserID, _ ending: StreamEnding, _ isEnded: (LiveSignals) -> Bool) {
    for signals in feed.withRegistry({ $0.streams(of: user) }) where isEnded(signals) { feed.end(signals, ending) }
  }

  /// Waits until the read models have applied what was examined.
  /// - Returns: that position. Meanwhile, more is examined, so that endings do not wait for a read model.
  private mutating func awaitReadModels() throws -> LogPosition {
    let target = examined
    feed.readModels.timeline.hurry(to: target)
    feed.readModels.accounts.hurry(to: target)
    try wait(for: target, feed.readModels.rooms)
    try wait(for: target, feed.readModels.timeline)
    try wait(for: target, feed.readModels.accounts)
    return target
  }

  private mutating func wait(for target: LogPosition, _ model: ProjectionRunner<some Projection>) throws {
    let end = ContinuousClock.now + .milliseconds(Self.readModelMilliseconds)
    while true {
      do throws(ProjectionBehind) {
        return try model.waitBlocking(for: target, timeoutMilliseconds: Self.readModelLookMilliseconds)
      } catch {
        guard error.reason == .timedOut, end > .now else { throw error }
      }
      lookAtStreams()
      try examine()
    }
  }

  private func forEach(
    after start: LogPosition, through end: LogPosition, _ body: ([RecordedEvent]) throws -> Void
  ) throws {
    var reached = start
    while reached < end {
      let events = try feed.store.events(after: reached, limit: Limits.liveCycleEvents)
      guard let last = events.last else { return }
      try body(events.filter { $0.position <= end })
      reached = last.position
    }
  }

  // MARK: - New streams

  /// Adds users whose first stream was opened, and wakes streams that may have missed something.
  /// - Returns: the users who need not be woken for the events of this cycle.
  private mutating func take(_ arrivals: [LiveSignals]) throws -> Set<UserID> {
    for signals in arrivals where index.contains(signals.user) { signals.change(through: position) }
    var new = Set(arrivals.map(\.user)).filter { !index.contains($0) }
    if new.count > Limits.liveUsersPerCycle {
      new = Set(new.prefix(Limits.liveUsersPerCycle))
      let later = arrivals.filter { !index.contains($0.user) && !new.contains($0.user) }
      feed.withRegistry { $0.putBack(later) }
    }
    try load(new)
    return new
  }

  /// Reads the rooms and workspaces of users, and wakes their streams for everything up to the snapshot, which may have
  /// more than the events that were applied to the index.
  private mutating func load(_ users: Set<UserID>) throws {
    guard !users.isEmpty else { return }
    pages.remove(users)
    let (snapshot, found) = try feed.readModels.rooms.readBlocking { rooms in
      (
        try rooms.checkpoint().position,
        try users.map { ($0, try rooms.spaces(of: $0) { index.needsChannels(of: $0) }) }
      )
    }
    for (user, spaces) in found {
      index.set(spaces, of: user)
      for signals in feed.withRegistry({ $0.streams(of: user) }) { signals.change(through: snapshot) }
    }
  }

  // MARK: - Waking

  /// - Parameter reached: the read models have all events up to here.
  private mutating func wake(through reached: LogPosition, except loaded: Set<UserID>) throws {
    let isUnwatched = index.users.isEmpty && ephemera.isEmpty
    if isUnwatched, reached > position { ephemera.forget() }
    // With too many events to find out whom each concerns, everyone is woken.
    let isMuch = reached.distance(from: position) > UInt64(Limits.liveCycleEvents)
    let wakes = try isUnwatched ? LiveWakes() : isMuch ? concernedByMuch(through: reached) : concerned(through: reached)
    position = reached
    var readers = wakes.readers.union(loaded)
    pages.remove(readers)
    readers.formUnion(pages.add(wakes.messages.map { $0.except(readers) }))
    for user in readers.subtracting(loaded) { wake(user) }
    // So that the streams do not each read the digest of their cursor.
    if !pages.isEmpty { _ = try? feed.digests.cursor(at: SyncPosition(position)) }
    let turn = pages.next(at: feed.now())
    for user in turn.readers { wake(user) }
    for (user, content) in turn.contents { wake(user, content) }
    let outdated = index.takeOutdated()
    do {
      try load(outdated)
    } catch {
      // They are read again as if their streams were new. Until then the index does not have them.
      for user in outdated { index.remove(user) }
      feed.withRegistry { registry in registry.putBack(outdated.flatMap { registry.streams(of: $0) }) }
      throw error
    }
  }

  /// Applies the events of this cycle, and returns the users whom they concern. All events are read before the first is
  /// applied: once an event that ends something is applied, the index no longer has its users.
  private mutating func concerned(through reached: LogPosition) throws -> LiveWakes {
    var events: [RecordedEvent] = []
    try forEach(after: position, through: reached) { events += $0 }
    var wakes = LiveWakes()
    for recorded in events {
      index.collect(recorded, into: &wakes)
      index.apply(recorded.event)
      ephemera.apply(recorded)
    }
    // If the profiles cannot be read, everyone is woken.
    wakes.readers.formUnion((try? members(around: wakes.profiles)) ?? index.users)
    return wakes
  }

  private func wake(_ user: UserID, _ content: LiveContent? = nil) {
    for signals in feed.withRegistry({ $0.streams(of: user) }) { signals.change(through: position, content) }
  }

  /// Applies the events of this cycle, and returns all users. If this fails halfway, the next cycle has these events again.
  private mutating func concernedByMuch(through reached: LogPosition) throws -> LiveWakes {
    try forEach(after: position, through: reached) { events in
      for recorded in events {
        index.apply(recorded.event)
        ephemera.apply(recorded)
      }
    }
    return LiveWakes(readers: index.users)
  }

  /// The users who see the users whose profiles changed. A user's rooms are read as they are now; the members of those
  /// that the user left meanwhile learn of that anyway.
  private func members(around profiles: Set<UserID>) throws -> Set<UserID> {
    guard !profiles.isEmpty else { return [] }
    return try feed.readModels.rooms.readBlocking { rooms in
      try profiles.reduce(into: []) { found, user in
        found.formUnion(index.members(of: try rooms.spaces(of: user, channelsOf: { _ in false })))
      }
    }
  }
}
