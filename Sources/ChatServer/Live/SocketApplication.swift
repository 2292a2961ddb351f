import NIOCore
import SocketProtocols

/// The application on top of one connection to a namespace of Socket.IO. All of it is called on the event loop of the
/// session.
protocol SocketApplication: AnyObject {
  /// The client asks to connect. Call `accept` or `refuse`, now or later.
  func connect(_ payload: [UInt8]?)
  /// - Parameter acknowledgement: nil if the client wants none.
  func received(_ event: SocketArguments, _ acknowledgement: SocketEventID?)
  /// The client has left the namespace, or the session has ended. Nothing can be sent any more.
  func disconnected()
  /// The server stops. Send what is left to send, and disconnect.
  func stopping()
}

/// The server's end of a connection to a namespace. Its methods can be called from any thread and keep their order. They
/// do nothing once the connection has ended.
struct SocketConnection: Sendable {
  let namespace: SocketNamespace
  private let id: SocketSession.ConnectionID
  private let session: EngineChannel
  private let transport: NIOLoopBound<SocketTransport>

  /// Called on the event loop of the session.
  init(
    _ namespace: SocketNamespace, _ id: SocketSession.ConnectionID, _ session: EngineChannel,
    _ transport: SocketTransport
  ) {
    self.namespace = namespace
    self.id = id
    self.session = session
    self.transport = NIOLoopBound(transport, eventLoop: session.eventLoop)
  }

  /// The request that opened the session.
  var origin: CommandOrigin { session.origin }
  /// The credentials of that request, if it has any.
  var credentials: Credentials { session.credentials }
  var eventLoop: any EventLoop { session.eventLoop }

  private func onLoop(_ body: @escaping @Sendable (SocketTransport) -> Void) {
    guard session.eventLoop.inEventLoop else { return session.eventLoop.execute { body(transport.value) } }
    body(transport.value)
  }

  func accept() {
    onLoop { [id] in $0.accept(id) }
  }

  /// - Parameter detail: a JSON text, which the client gets as `data`.
  func refuse(_ message: String, detail: [UInt8]? = nil) {
    onLoop { [id] in $0.refuse(id, message, detail: detail) }
  }

  /// Sends an event.
  func send(_ arguments: SocketArguments) {
    let packets = packets(arguments)
    onLoop { [id] in $0.send(packets, to: id) }
  }

  /// Sends an event of any length; see `EngineChannel`.
  func sendPage(_ arguments: SocketArguments) { session.sendPage(packets(arguments)) }

  func untilWritable() async throws { try await session.untilWritable() }

  func pause() { session.pause() }

  func resume() { session.resume() }

  func acknowledge(_ event: SocketEventID, _ arguments: SocketArguments) {
    onLoop { [id] in $0.acknowledge(event, arguments, to: id) }
  }

  /// Ends the connection. The session and its other namespaces stay.
  /// - Parameter last: an event that is sent before.
  func disconnect(_ last: SocketArguments? = nil) {
    let packets = last.map(packets) ?? []
    onLoop { [id] in $0.disconnect(id, packets) }
  }

  private func packets(_ arguments: SocketArguments) -> [WebSocketMessage] {
    SocketPacket(.event(arguments, nil), in: namespace).encoded
  }
}
