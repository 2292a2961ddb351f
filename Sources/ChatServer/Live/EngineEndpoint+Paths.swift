import ChatPrimitives
import Logging
import SocketProtocols

extension EngineEndpoint {
  /// The sync and commands over Socket.IO.
  static let chatPath = "/socket.io/"

  /// What clients use. Other methods get an error in the form of the protocol.
  static let methods = ["GET", "HEAD", "POST"]

  static func chat(
    _ services: StreamServices, _ origins: OriginRule, _ addresses: AddressRateCheck, _ logger: Logger
  ) -> EngineEndpoint {
    EngineEndpoint(
      Settings(
        path: chatPath, limits: .chat, origins: origins, addresses: addresses, logger: logger,
        unfinished: services.unfinished,
        makeApplication: { channel in
          let unfinished = UnfinishedBytes(services.unfinished, of: channel.origin.address, channel.origin.logger)
          return SocketTransport(channel, .chat, unfinished) { SyncNamespace(services, $0) }
        }))
  }

  /// The echo for the official suite of Engine.IO.
  static func conformanceEngine(_ addresses: AddressRateCheck, _ logger: Logger) -> EngineEndpoint {
    EngineEndpoint(
      Settings(
        path: "/conformance/engine.io/", limits: .conformance, origins: nil, addresses: addresses, logger: logger,
        makeApplication: { EngineEcho($0) }))
  }

  /// The echo for the official suite of Socket.IO.
  static func conformanceSocket(_ addresses: AddressRateCheck, _ logger: Logger) -> EngineEndpoint {
    EngineEndpoint(
      Settings(
        path: "/conformance/socket.io/", limits: .conformance, origins: nil, addresses: addresses, logger: logger,
        makeApplication: { SocketTransport($0, .conformance, nil) { SocketEcho($0) } }))
  }
}

extension EngineLimits {
  static let chat = EngineLimits(
    pingInterval: .seconds(Limits.enginePingSeconds), pingTimeout: .seconds(Limits.enginePongSeconds),
    maxPayload: Limits.enginePayloadBytes, packetsPerPost: Limits.enginePostPackets,
    packetsPerPoll: Limits.enginePollPackets, bufferBytes: Limits.engineBufferBytes,
    upgradeTimeout: .seconds(Limits.engineUpgradeSeconds), closeTimeout: .seconds(Limits.engineClosingSeconds))

  /// What the official suites expect. The buffer holds the echo of the longest request.
  static let conformance = EngineLimits(
    pingInterval: .milliseconds(300), pingTimeout: .milliseconds(200), maxPayload: 1_000_000,
    packetsPerPost: Limits.enginePostPackets, packetsPerPoll: Limits.enginePollPackets, bufferBytes: 2_000_000,
    upgradeTimeout: .seconds(Limits.engineUpgradeSeconds), closeTimeout: .seconds(Limits.engineClosingSeconds))
}

extension SocketLimits {
  static let chat = SocketLimits(packetBytes: Limits.enginePayloadBytes)
  static let conformance = SocketLimits(packetBytes: EngineLimits.conformance.maxPayload)

  private init(packetBytes: Int) {
    self.init(
      packetBytes: packetBytes, attachments: Limits.socketAttachments, namespaceBytes: Limits.socketNamespaceBytes,
      arguments: Limits.socketArguments, jsonDepth: Limits.jsonDepth, namespaces: Limits.socketNamespaces,
      connectTimeout: .seconds(Limits.socketConnectSeconds))
  }
}
