import ChatDomain
import ChatPrimitives

/// The open streams, and what the feed's thread has to be told about them.
struct LiveRegistry {
  private var streams: [UserID: [LiveSignals]] = [:]
  /// Streams that the thread has not taken yet.
  private(set) var arrivals: [LiveSignals] = []
  /// Users whose last stream may have ended.
  private var departures: Set<UserID> = []
  private var lastNumber: UInt64 = 0
  /// The presence that the client of each stream says, by the number of the stream. Only streams that show notices have one;
  /// the others are requests that wait for changes.
  private var showing: [UInt64: Presence] = [:]
  private var openRooms = OpenRooms()
  private var news = EphemeralNews()
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
    guard showing.removeValue(forKey: signals.number) != nil else { return }
    news.users.insert(signals.user)
    guard let device = signals.device, !open.contains(where: { $0.device == device && isShowing($0) }) else { return }
    openRooms.set([], device, of: signals.user)
  }

  /// No more streams are opened.
  /// - Returns: those that are open.
  mutating func stop() -> [LiveSignals] {
    isStopping = true
    return all
  }

  var all: [LiveSignals] { streams.values.flatMap { $0 } }

  func streams(of user: UserID) -> [LiveSignals] { streams[user] ?? [] }

  func isOpen(_ signals: LiveSignals) -> Bool {
    streams[signals.user]?.contains { $0.number == signals.number } ?? false
  }

  // MARK: - Typing, presence and open rooms

  var hasNews: Bool { !news.isEmpty }

  private func isShowing(_ signals: LiveSignals) -> Bool { showing[signals.number] != nil }

  /// From now on, the stream shows notices, and its user is online.
  mutating func show(_ signals: LiveSignals) {
    guard isOpen(signals) else { return }
    showing[signals.number] = .online
    news.users.insert(signals.user)
    news.streams.append(signals)
  }

  /// - Returns: whether there is such a stream.
  mutating func set(
    _ presence: Presence, of user: UserID, where isMeant: (LiveSignals) -> Bool
  ) -> Bool {
    let meant = streams(of: user).filter { isShowing($0) && isMeant($0) }
    for signals in meant { showing[signals.number] = presence }
    if !meant.isEmpty { news.users.insert(user) }
    return !meant.isEmpty
  }

  /// The presence that the user's streams say; nil if there is none.
  private func presence(of user: UserID) -> Presence? {
    let said = streams(of: user).compactMap { showing[$0.number] }
    return said.contains(.online) ? .online : said.first
  }

  /// - Returns: whether the device has a stream.
  mutating func setOpenRooms(_ rooms: Set<RoomID>, _ device: DeviceID, of user: UserID) -> Bool {
    guard streams(of: user).contains(where: { $0.device == device && isShowing($0) }) else { return false }
    openRooms.set(rooms, device, of: user)
    return true
  }

  func isOpen(_ room: RoomID, _ device: DeviceID, of user: UserID) -> Bool {
    openRooms.contains(room, device, of: user)
  }

  /// Does nothing if the thread has too many inputs to take.
  mutating func setTyping(_ key: TypingInput.Key, _ input: TypingInput) {
    guard news.typing.count < Limits.typingInputs || news.typing[key] != nil else { return }
    news.typing[key] = input
  }

  /// - Returns: what is new, and the presence that the streams of each user in it say.
  mutating func takeNews() -> (EphemeralNews, presences: [(UserID, Presence?)]) {
    defer { news = EphemeralNews() }
    return (news, news.users.map { ($0, presence(of: $0)) })
  }

  // MARK: - The feed's thread

  /// - Returns: the arrivals that are still open.
  mutating func takeArrivals() -> [LiveSignals] {
    defer { arrivals = [] }
    return arrivals.filter { isOpen($0) }
  }

  /// For streams whose users could not be read yet.
  mutating func putBack(_ signals: some Sequence<LiveSignals>) {
    let known = Set(arrivals.map(\.number))
    arrivals += signals.filter { !known.contains($0.number) }
  }

  /// - Returns: users without streams.
  mutating func takeDepartures() -> [UserID] {
    defer { departures = [] }
    return departures.filter { streams[$0] == nil }
  }
}

/// What the feed's thread has to be told about typing and presence.
struct EphemeralNews: Sendable {
  var typing: [TypingInput.Key: TypingInput] = [:]
  /// Users whose presence may be different, because a stream began, ended or said so.
  var users: Set<UserID> = []
  /// Streams that show notices from now on.
  var streams: [LiveSignals] = []

  var isEmpty: Bool { typing.isEmpty && users.isEmpty && streams.isEmpty }
}
