import Testing

@testable import SocketProtocols

/// A session and the time, in milliseconds. The specs pass inputs and compare actions.
final class EngineUnderTest {
  private(set) var session: EngineSession
  private(set) var opening: [EngineAction]
  var now = 0

  init(_ transport: EngineTransport = .polling, limits: EngineLimits = .conformance) {
    (session, opening) = EngineSession.open(
      id: EngineSessionID(random: 0, 0), transport: transport, limits: limits, now: .zero)
  }

  /// A session that is polling, with a WebSocket that has been tested.
  static func probed() -> EngineUnderTest {
    let engine = EngineUnderTest()
    _ = engine.socketOpened()
    _ = engine.socket("2probe")
    return engine
  }

  func perform(_ input: (inout EngineSession, Duration) -> [EngineAction]) -> [EngineAction] {
    input(&session, .milliseconds(now))
  }

  func tick(at time: Int) -> [EngineAction] {
    now = time
    return perform { $0.tick(now: $1) }
  }

  func poll() -> [EngineAction] { perform { $0.poll(now: $1) } }
  func pollCancelled() -> [EngineAction] { perform { $0.pollCancelled(now: $1) } }
  func beginPost() -> [EngineAction] { perform { $0.post(now: $1) } }
  func body(_ text: String) -> [EngineAction] { perform { $0.postBody(utf8(text), now: $1) } }
  func post(_ text: String) -> [EngineAction] { beginPost() + body(text) }
  func postTooLarge() -> [EngineAction] { perform { $0.postTooLarge(now: $1) } }
  func postCancelled() -> [EngineAction] { perform { $0.postCancelled(now: $1) } }
  func socketOpened() -> [EngineAction] { perform { $0.socketOpened(now: $1) } }
  func socket(_ text: String) -> [EngineAction] { perform { $0.socketMessage(.text(utf8(text)), now: $1) } }
  func socketClosed() -> [EngineAction] { perform { $0.socketClosed(now: $1) } }
  func close() -> [EngineAction] { perform { $0.close(now: $1) } }

  /// Sends each text as a message.
  func send(_ texts: String...) -> [EngineAction] {
    let packets = texts.map { EnginePacket.message(.text(utf8($0))).encoded }
    return perform { $0.send(packets, now: $1) }
  }

  func send(uncounted text: String) -> [EngineAction] {
    perform { $0.sendUncounted([EnginePacket.message(.text(utf8(text))).encoded], now: $1) }
  }

  func send(binary: [UInt8]) -> [EngineAction] {
    perform { $0.send([EnginePacket.message(.binary(binary)).encoded], now: $1) }
  }
}

extension EngineLimits {
  /// The limits that the official suite expects.
  static let conformance = EngineLimits(
    pingInterval: .milliseconds(300), pingTimeout: .milliseconds(200), maxPayload: 1_000_000, packetsPerPost: 100,
    packetsPerPoll: 16, bufferBytes: 1_000, upgradeTimeout: .milliseconds(10_000), closeTimeout: .milliseconds(100))
}

extension EngineAction {
  static func answer(_ body: String) -> EngineAction { .answerPoll(utf8(body)) }
  static func write(_ text: String) -> EngineAction { .write(.text(utf8(text))) }
  static func deliver(_ text: String) -> EngineAction { .deliver(.text(utf8(text))) }
}
