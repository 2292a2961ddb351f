import EventLogSimulation
import Testing

@testable import SocketProtocols

/// The same packets of Socket.IO, sent in every way that Engine.IO has.
@Suite struct SocketTransportTests {
  private struct Run {
    var engine: EngineSession
    var socket = SocketSession(limits: .small, now: .zero)
    var seen: [SocketSession.Action] = []

    init(_ transport: EngineTransport) {
      (engine, _) = EngineSession.open(
        id: EngineSessionID(random: 0, 0), transport: transport, limits: .conformance, now: .zero)
    }

    mutating func apply(_ actions: [EngineAction]) {
      for case .deliver(let message) in actions {
        for action in socket.receive(message, now: .zero) {
          seen.append(action)
          if case .connect(let id, _, _) = action { _ = socket.accept(id, sid: EngineSessionID(random: 0, 0)) }
        }
      }
    }

    mutating func post(_ packets: ArraySlice<WebSocketMessage>) {
      guard !packets.isEmpty else { return }
      apply(engine.post(now: .zero) + engine.postBody(EnginePayload.encode(packets), now: .zero))
    }

    mutating func write(_ packets: ArraySlice<WebSocketMessage>) {
      for packet in packets { apply(engine.socketMessage(packet, now: .zero)) }
    }

    mutating func upgrade() {
      apply(engine.socketOpened(now: .zero))
      for text in ["2probe", "5"] { apply(engine.socketMessage(.text(utf8(text)), now: .zero)) }
    }
  }

  @Test("polling, WebSocket and an upgrade at any place give the same events", arguments: 0..<30 as Range<UInt64>)
  func sameEvents(seed: UInt64) {
    var random = SeededRandom(seed: seed)
    let events = (0..<4).map { _ in SocketPacket(.event(random.socketArguments(), nil)) }
    let packets = ([SocketPacket(.connect(nil))] + events).flatMap(\.encoded)
    let expected: [SocketSession.Action] =
      [.connect(.init(value: 0), .main, payload: nil)]
      + events.map { .event(.init(value: 0), $0.arguments, nil) }

    var socket = Run(.websocket)
    socket.write(packets[...])
    #expect(socket.seen == expected)
    for place in 0...packets.count {
      var polling = Run(.polling)
      polling.post(packets[..<place])
      polling.post(packets[place...])
      #expect(polling.seen == expected, "split at \(place)")
      var upgraded = Run(.polling)
      upgraded.post(packets[..<place])
      upgraded.upgrade()
      upgraded.write(packets[place...])
      #expect(upgraded.seen == expected, "upgraded at \(place)")
    }
  }
}
