import SocketProtocols

/// Sends every message back, as the official suite of Engine.IO expects.
final class EngineEcho: EngineApplication {
  private let channel: EngineChannel

  init(_ channel: EngineChannel) {
    self.channel = channel
  }

  func received(_ message: EngineMessage) { channel.send([EnginePacket.message(message).encoded]) }

  func ended(_ ending: EngineEnding) {}

  func stopping() { channel.close() }
}

/// The namespaces and events that the official suite of Socket.IO expects.
final class SocketEcho: SocketApplication {
  private static let namespaces: Set<String> = ["/", "/custom"]
  private let connection: SocketConnection

  init(_ connection: SocketConnection) {
    self.connection = connection
  }

  func connect(_ payload: [UInt8]?) {
    guard Self.namespaces.contains(connection.namespace.name) else { return connection.refuse("Invalid namespace") }
    connection.accept()
    connection.send(SocketArguments(event: "auth", [payload ?? Array("{}".utf8)]))
  }

  func received(_ event: SocketArguments, _ acknowledgement: SocketEventID?) {
    let arguments = event.elements(from: 1)
    switch event.name {
    case "message":
      connection.send(SocketArguments(event: "message-back", arguments, attachments: event.attachments))
    case "message-with-ack":
      guard let acknowledgement else { return }
      connection.acknowledge(acknowledgement, SocketArguments(arguments, attachments: event.attachments))
    case nil, .some: break
    }
  }

  func disconnected() {}

  func stopping() { connection.disconnect() }
}
