private import FoundationEssentials
import SocketProtocols

private let limits = SocketLimits(
  packetBytes: 512, attachments: 3, namespaceBytes: 16, arguments: 6, jsonDepth: 5, namespaces: 2,
  connectTimeout: .seconds(10))

/// Tries packets of Socket.IO. The input: a payload of Engine.IO, of which the messages count. If it is none, the whole
/// input is one text.
func fuzzSocketPackets(_ input: [UInt8]) {
  let messages = messages(in: input)
  decode(messages)
  runSession(messages)
}

private func messages(in input: [UInt8]) -> [EngineMessage] {
  guard IncrementalUTF8.isValid(input) else { return [] }
  let packets = try? EnginePayload.decode(input, maximumBytes: input.count, maximumPackets: input.count + 1)
  guard let packets else { return [.text(input)] }
  return packets.compactMap { packet in
    if case .message(let message) = packet { message } else { nil }
  }
}

private func decode(_ messages: [EngineMessage]) {
  var decoder = SocketPacketDecoder(limits: limits)
  for message in messages {
    let decoded: SocketPacket?
    do { decoded = try decoder.receive(message) } catch { return }
    if let decoded { tryPacket(decoded) }
  }
}

private func tryPacket(_ packet: SocketPacket) {
  var decoder = SocketPacketDecoder(limits: limits)
  var again: SocketPacket?
  for message in packet.encoded {
    demand(again == nil, "a packet ends with its last attachment")
    guard case .message(let content)? = try? EnginePacket(parsing: message) else {
      fatalError("a packet is not encoded as messages")
    }
    do { again = try decoder.receive(content) } catch { fatalError("a packet that parsed is refused: \(error)") }
  }
  demand(again == packet, "a packet survives its bytes")
  switch packet.content {
  case .connect(nil), .disconnect: break
  case .connect(let json?), .connectError(let json): demand(isJSON(json), "a payload is JSON")
  case .event(let arguments, _), .acknowledgement(let arguments, _): tryArguments(arguments)
  }
}

private func tryArguments(_ arguments: SocketArguments) {
  demand(isJSON(arguments.json), "arguments are JSON")
  demand(arguments.count <= limits.arguments, "arguments are within their limit")
  demand(arguments.attachments.count <= limits.attachments, "attachments are within their limit")
  for element in arguments.elements(from: 0) { demand(isJSON(element), "each argument is JSON") }
  if let name = arguments.name {
    demand(SocketArguments(event: name).name == name, "a name survives its bytes")
  }
}

/// Whether another parser can read this too. It does not look into strings and numbers.
private func isJSON(_ json: [UInt8]) -> Bool {
  struct Anything: Decodable {
    init(from decoder: any Decoder) {}
  }
  return (try? JSONDecoder().decode(Anything.self, from: Data(json))) != nil
}

private func runSession(_ messages: [EngineMessage]) {
  var session = SocketSession(limits: limits, now: .zero)
  var connected: Set<SocketSession.ConnectionID> = []
  var hasClosed = false
  for message in messages {
    for action in session.receive(message, now: .zero) {
      demand(!hasClosed, "nothing follows the close")
      switch action {
      case .connect(let id, _, _):
        demand(connected.insert(id).inserted, "a connection has a number of its own")
        demand(connected.count <= limits.namespaces, "namespaces are within their limit")
        demand(!session.accept(id, sid: EngineSessionID(random: 0, 0)).isEmpty, "a CONNECT can be accepted")
      case .event(let id, _, _): demand(connected.contains(id), "events come from connected namespaces")
      case .disconnected(let id): demand(connected.remove(id) != nil, "a namespace is left once")
      case .send: break
      case .close: hasClosed = true
      }
    }
  }
  for id in connected { demand(!session.disconnect(id, now: .zero).isEmpty, "the server can end a namespace") }
}
