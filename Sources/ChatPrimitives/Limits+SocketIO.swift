/// The limits of Socket.IO and of Engine.IO below it.
extension Limits {
  /// The open sessions of all clients, and of one address or IPv6 /64. A session takes about 2 KB and what waits for it.
  public static let engineSessions = 64 * 1024
  public static let engineSessionsOfAddress = 1_000
  /// How often the server pings, and how long it waits for the pong, in seconds.
  public static let enginePingSeconds = 25
  public static let enginePongSeconds = 20
  /// The body of one request, or one WebSocket message, in bytes.
  public static let enginePayloadBytes = 128 * 1024
  /// The packets in the body of one request.
  public static let enginePostPackets = 256
  /// The packets in one response to a client that polls. Some clients accept no more.
  public static let enginePollPackets = 16
  /// What waits for a client that polls, in bytes, besides one page of a stream. If more is sent, its session ends.
  public static let engineBufferBytes = 256 * 1024
  /// How long an upgrade to WebSocket may take, in seconds.
  public static let engineUpgradeSeconds = 10
  /// How long a session that has ended waits for its client to fetch the rest, in seconds.
  public static let engineClosingSeconds = 30
  /// How long a session stays open for the last events when the server stops, in seconds.
  public static let engineStopSeconds = 5
  /// The fragments of one WebSocket message.
  public static let engineFragments = 1_024
  /// The namespaces of one session.
  public static let socketNamespaces = 64
  /// The name of a namespace, in bytes.
  public static let socketNamespaceBytes = 256
  /// The arguments of an event, with its name, and its binary attachments.
  public static let socketArguments = 16
  public static let socketAttachments = 16
  /// How long a session may be without a namespace, in seconds.
  public static let socketConnectSeconds = 10
}
