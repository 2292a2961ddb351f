extension Limits {
  // MARK: Live streams

  /// The shortest time between two looks at the log for streams, in milliseconds. It bounds how often streams read.
  public static let liveCycleMilliseconds = 5
  /// If more events than this arrived since the last look, every stream reads, and none of them is examined for whom it
  /// concerns.
  public static let liveCycleEvents = 4_096
  /// The users whose rooms are read in one look, because their first streams began. The others wait for the next.
  public static let liveUsersPerCycle = 256
  /// The items of a page that are encoded on the thread of an event loop. Longer pages are encoded on the thread pool.
  public static let itemsEncodedAtOnce = 8
  /// A page of at most so many bytes is written at once if the connection is writable.
  public static let shortPageBytes = 16 * 1024
  /// The users whose pages are made in one cycle, from one snapshot.
  public static let livePageUsers = 256
  /// The messages that the feed keeps until it has made the pages of all users. After a pause of several seconds, one cycle
  /// can have this many. If there are more, streams read them from the read models, which takes ten times as long.
  public static let livePageMessages = liveCycleEvents
  /// Pages that wait for a stream. If there are more, the stream reads them.
  public static let livePagesOfStream = 16
  /// If more users than this block the author of a message, streams read it.
  public static let livePageBlockers = 256
  /// The open streams of one user, and of one device of a user. A request that waits for changes counts.
  public static let streamsOfUser = 64
  public static let streamsOfDevice = 8
  /// How long a client has to authenticate after its WebSocket is open, in seconds.
  public static let streamAuthenticationSeconds: Int64 = 10
  /// The longest message that a client can send over a WebSocket, in bytes: a command with the longest body of a request.
  public static let streamMessageBytes = requestBodyBytes + 4 * 1024
  /// The longest message before the client has authenticated, in bytes: a long token and all options.
  public static let streamFirstMessageBytes = 16 * 1024
  /// The fragments of a message.
  public static let streamFragments = 1_024
  /// The commands of a stream that are being performed. While there are so many, the server reads nothing more.
  public static let commandsInFlight = 64
  /// A stream ends when it has this many commands in flight, because more arrived together: the packets of one request.
  public static let commandsTogether = commandsInFlight + enginePostPackets
  /// A stream ends when this many of its commands in a row are malformed or rejected by the rate limits.
  public static let refusedCommandsInARow = 100
  /// The longest ID that a client gives to a command, in bytes.
  public static let commandIDBytes = 64
  /// How long commands that are being performed may take when the stream ends, in seconds.
  public static let commandDrainSeconds: Int64 = 5
  /// How long a ticket for a stream is valid, in milliseconds.
  public static let streamTicketMilliseconds: Int64 = 60_000
  /// The tickets of one user, and of all users together. Each takes about 1 KB.
  public static let streamTicketsOfUser = 16
  public static let streamTickets = 64 * 1024
  /// How long before its access token expires a stream is told, in seconds.
  public static let streamExpiryNoticeSeconds: Int64 = 60
  /// A stream that had nothing to send for this long sends a heartbeat. Shorter than a connection may be idle.
  public static let streamHeartbeatSeconds = 25
  /// The pages of the sync that are read at once. Each read model has four connections for reads, so others are free.
  public static let syncReads = 2
  /// The most reads of the sync that wait for others: one for each connection, with room for streams of HTTP/2.
  public static let waitingSyncReads = 64 * 1024
  /// How long a read of the sync waits for others, in milliseconds.
  public static let syncReadTimeoutMilliseconds: Int64 = 5_000
  /// How long a stream waits after a page could not be read, for example because a read model is being rebuilt, in
  /// milliseconds.
  public static let streamRetryMilliseconds = 1_000
  /// How long a client waits at most before it resumes a stream that ended because the server stops, in milliseconds.
  public static let streamResumeMilliseconds = 10_000
  /// How long a stream waits for its client to take most of what was sent before the stream ends, in seconds. Shorter than
  /// the time before a connection is cut because nobody reads, so that the client can still learn why.
  public static let streamSendSeconds: Int64 = 10
  /// How often a WebSocket is pinged, how long its client may send no frame, and how long the server waits for the
  /// client's close frame, in seconds.
  public static let webSocketPingSeconds = 25
  public static let webSocketSilenceSeconds = 60
  public static let webSocketClosingSeconds = 5
  /// The first receive buffer of a connection, and the largest one, in bytes. NIO keeps the current one for as long as the
  /// connection is open.
  public static let receiveBytes = 1_024
  public static let maximumReceiveBytes = 64 * 1024
  /// The longest message of `/conformance/ws` in bytes, and its most fragments.
  public static let conformanceMessageBytes = 32 * 1024 * 1024
  public static let conformanceFragments = 65_537

  // MARK: Typing, presence and open rooms

  /// How long a user types who says so once, in seconds.
  public static let typingSeconds: Int64 = 6
  /// If a user says again within this time that they type, that changes nothing, in seconds.
  public static let typingIntervalSeconds: Int64 = 3
  /// How often a user can start to type in a room within this interval, after stopping in between.
  public static let typingStarts = 3
  /// The users who are shown typing in a room, and the rooms in which a user is shown typing.
  public static let typistsShown = 8
  public static let typingRoomsOfUser = 8
  /// The users who are shown typing in all rooms together.
  public static let typists = 64 * 1024
  /// What users said about their typing and what the feed has not taken yet. More is ignored.
  public static let typingInputs = 4 * 1024
  /// A user whom more users than this block is not shown typing.
  public static let typingBlockers = 1_000
  /// How many users begin to type, and of how many users the presence is shown, in one look at the log. The others wait
  /// for the next.
  public static let typingPerCycle = 64
  public static let presencePerCycle = 16
  /// A user's presence is shown in direct rooms and in rooms with at most this many members, among the rooms of the user
  /// with the latest activity.
  public static let presenceMembers: UInt64 = 64
  public static let presenceRooms = 500
  /// How long a user is shown online after the last stream ended, in seconds.
  public static let presenceGraceSeconds: Int64 = 30
  /// The shortest time between two presences of a user that others are shown, in seconds.
  public static let presenceIntervalSeconds: Int64 = 10
  /// The users whose presence is known. Others look offline.
  public static let presences = 128 * 1024
  /// The notices of a stream that it has not taken. More are dropped.
  public static let pendingNotices = 1_024
  /// The rooms that a device can show at once.
  public static let openRoomsOfDevice = 8
}
