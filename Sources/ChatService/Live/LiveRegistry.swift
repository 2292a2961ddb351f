import ChatDomain
import ChatPrimitives

/// The open streams, and what the feed's thread has to learn of them.
struct LiveRegistry {
  private var streams: [UserID: [LiveSignals]] = [:]
  /// Streams that the thread has not taken yet.
  private(set) var arrivals: [LiveSignals] = []
  /// Users whose last stream may be gone.
  private var departures: Set<UserID> = []
  private var lastNumber: UInt64 = 0
  /// Whether no more streams are opened.
  private var isStopping = false

  var isEmpty: Bool { streams.isEmpty }
  var count: Int { streams.values.reduce(0) { $0 + $1.count } }

  mutating func add(_ permission: LivePermission, since: LogPosition) throws(StreamRefusal) -> LiveSignals {
    guard !isStopping else { throw .ended(.stopping()) }
    let open = streams[permission.user] ?? []
    guard open.count < Limits.streamsOfUser else { throw .tooManyOfUser }
    if let device = permission.device {
      guard open.count(where: { $0.device == device }) < Limits.streamsOfDevice else { throw .tooManyOfDevice }
    }
    lastNumber += 1
    let signals = LiveSignals(number: lastNumber, permission, since: since)
    streams[permission.user, default: []].append(signals)
    arrivals.append(signals)
    return signals
  }

  mutating func remove(_ signals: LiveSignals) {
    guard var open = streams[signals.user] else { return }
    open.removeAll { $0.number == signals.number }
    streams[signals.user] = open.isEmpty ? nil : open
    if open.isEmpty { departures.insert(signals.user) }
  }

  /// No more streams are opened.
  /// - Returns: those that are open.
  mutating func stop() -> [LiveSignals] {
    isStopping = true
    return all
  }

  var all: [LiveSignals] { streams.values.flatMap { $0 } }

  func streams(of user: UserID) -> [LiveSignals] { streams[user] ?? [] }

  // MARK: - The feed's thread

  /// - Returns: the arrivals that are still open.
  mutating func takeArrivals() -> [LiveSignals] {
    defer { arrivals = [] }
    return arrivals.filter { signals in streams[signals.user]?.contains { $0.number == signals.number } ?? false }
  }

  /// For streams whose users could not be read yet.
  mutating func putBack(_ signals: some Sequence<LiveSignals>) {
    arrivals += signals
  }

  /// - Returns: users without streams.
  mutating func takeDepartures() -> [UserID] {
    defer { departures = [] }
    return departures.filter { streams[$0] == nil }
  }
}
