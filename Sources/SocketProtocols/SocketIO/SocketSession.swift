/// A session of Socket.IO, protocol 5, on the server: which namespaces an Engine.IO session is connected to.
///
/// It has no clock: inputs bring the time, counted from any fixed origin. The application decides about each CONNECT
/// later, by the number of the connection, so that a late decision or acknowledgement never reaches a newer connection
/// to the same namespace.
package struct SocketSession: Sendable {
  /// The number of a connection to a namespace. A session never uses one twice.
  package struct ConnectionID: Hashable, Sendable {
    let value: Int
  }

  package enum Action: Equatable, Sendable {
    /// A client asks to connect. The application calls `accept` or `refuse`.
    case connect(ConnectionID, SocketNamespace, payload: [UInt8]?)
    /// An event. With an ID the application has to acknowledge it.
    case event(ConnectionID, SocketArguments, SocketEventID?)
    /// The client has left the namespace, or the session has ended.
    case disconnected(ConnectionID)
    /// Send these Engine.IO packets.
    case send([WebSocketMessage])
    /// Close the Engine.IO session. It is the last action.
    case close(SocketEnding)
  }

  private enum State {
    /// The application decides.
    case connecting
    case connected
    /// The server has ended the connection. What the client sent before it learned that is ignored.
    case disconnected
  }

  private struct Connection {
    let id: ConnectionID
    let namespace: SocketNamespace
    var state: State
  }

  private let limits: SocketLimits
  private var decoder: SocketPacketDecoder
  private var connections: [Connection] = []
  private var nextID = 0
  /// When the session ends because it has no namespace.
  private var connectBy: Duration
  private var isOpen = true

  package init(limits: SocketLimits, now: Duration) {
    self.limits = limits
    decoder = SocketPacketDecoder(limits: limits)
    connectBy = now + limits.connectTimeout
  }

  /// The time of the next `tick` that does something; nil if there is none.
  package var deadline: Duration? { isOpen && !isInUse ? connectBy : nil }

  package mutating func tick(now: Duration) -> [Action] {
    guard let deadline, now >= deadline else { return [] }
    return close(.connectTimeout)
  }

  /// How much has arrived of a packet whose attachments are still missing.
  package var unfinishedBytes: Int { isOpen ? decoder.unfinishedBytes : 0 }

  /// Whether a namespace is connected or may become so.
  private var isInUse: Bool {
    connections.contains { connection in
      switch connection.state {
      case .connecting, .connected: true
      case .disconnected: false
      }
    }
  }

  // MARK: The client

  package mutating func receive(_ message: EngineMessage, now: Duration) -> [Action] {
    guard isOpen else { return [] }
    do {
      guard let packet = try decoder.receive(message) else { return [] }
      return receive(packet, now)
    } catch {
      return close(.malformed(error))
    }
  }

  /// The Engine.IO session has ended.
  package mutating func engineEnded() -> [Action] {
    guard isOpen else { return [] }
    isOpen = false
    return leaveAll()
  }

  private mutating func receive(_ packet: SocketPacket, _ now: Duration) -> [Action] {
    let index = connections.firstIndex { $0.namespace == packet.namespace }
    switch packet.content {
    case .connect(let payload): return connect(packet.namespace, payload, index)
    case .connectError: return close(.unexpectedPacket)
    case .disconnect:
      guard let index else { return close(.unexpectedPacket) }
      return leave(index, now)
    case .event(let arguments, let id):
      guard let index else { return close(.unexpectedPacket) }
      switch connections[index].state {
      case .connecting: return close(.unexpectedPacket)
      case .connected: return [.event(connections[index].id, arguments, id)]
      case .disconnected: return []
      }
    // The server asks for no acknowledgements. As in the reference server, one that it did not ask for is ignored.
    case .acknowledgement: return index == nil ? close(.unexpectedPacket) : []
    }
  }

  private mutating func connect(_ namespace: SocketNamespace, _ payload: [UInt8]?, _ index: Int?) -> [Action] {
    if let index {
      guard case .disconnected = connections[index].state else { return close(.unexpectedPacket) }
      connections.remove(at: index)
    }
    guard connections.count < limits.namespaces || forgetDisconnected() else {
      return [.send(SocketPacket.refused("Too many namespaces", in: namespace).encoded)]
    }
    let id = ConnectionID(value: nextID)
    nextID += 1
    connections.append(Connection(id: id, namespace: namespace, state: .connecting))
    return [.connect(id, namespace, payload: payload)]
  }

  /// Makes room by forgetting the oldest connection that the server has ended.
  private mutating func forgetDisconnected() -> Bool {
    let oldest = connections.firstIndex { connection in
      if case .disconnected = connection.state { true } else { false }
    }
    guard let oldest else { return false }
    connections.remove(at: oldest)
    return true
  }

  private mutating func leave(_ index: Int, _ now: Duration) -> [Action] {
    let connection = connections.remove(at: index)
    restartTimeout(now)
    if case .disconnected = connection.state { return [] }
    return [.disconnected(connection.id)]
  }

  private mutating func restartTimeout(_ now: Duration) {
    if !isInUse { connectBy = now + limits.connectTimeout }
  }

  private mutating func close(_ reason: SocketEnding) -> [Action] {
    isOpen = false
    return leaveAll() + [.close(reason)]
  }

  private mutating func leaveAll() -> [Action] {
    let left = connections.filter { connection in
      if case .disconnected = connection.state { false } else { true }
    }
    connections = []
    return left.map { .disconnected($0.id) }
  }

  // MARK: The application

  /// Accepts a CONNECT. Does nothing if the client has given it up.
  package mutating func accept(_ id: ConnectionID, sid: EngineSessionID) -> [Action] {
    guard let index = index(of: id, in: .connecting) else { return [] }
    connections[index].state = .connected
    return [.send(SocketPacket.connected(sid, to: connections[index].namespace).encoded)]
  }

  /// Refuses a CONNECT. The time for a successful one goes on.
  ///
  /// - Parameter detail: a JSON text for the field `data`. It is not checked.
  package mutating func refuse(_ id: ConnectionID, _ message: String, detail: [UInt8]? = nil) -> [Action] {
    guard let index = index(of: id, in: .connecting) else { return [] }
    let connection = connections.remove(at: index)
    return [.send(SocketPacket.refused(message, detail: detail, in: connection.namespace).encoded)]
  }

  /// - Parameter packets: an event for this namespace, encoded once for all its clients.
  package func send(_ packets: [WebSocketMessage], to id: ConnectionID) -> [Action] {
    index(of: id, in: .connected) == nil ? [] : [.send(packets)]
  }

  package func acknowledge(_ event: SocketEventID, _ arguments: SocketArguments, to id: ConnectionID) -> [Action] {
    guard let index = index(of: id, in: .connected) else { return [] }
    return [.send(SocketPacket(.acknowledgement(arguments, event), in: connections[index].namespace).encoded)]
  }

  /// Ends the connection to a namespace. The session and its other namespaces stay.
  package mutating func disconnect(_ id: ConnectionID, now: Duration) -> [Action] {
    guard let index = index(of: id, in: .connected) else { return [] }
    connections[index].state = .disconnected
    restartTimeout(now)
    return [.send(SocketPacket(.disconnect, in: connections[index].namespace).encoded)]
  }

  private func index(of id: ConnectionID, in state: State) -> Int? {
    connections.firstIndex { connection in connection.id == id && connection.state == state }
  }
}

/// Why the server ends a session.
package enum SocketEnding: Equatable, Sendable {
  case malformed(SocketPacketError)
  /// A packet that is not possible in the state of its namespace, such as an event before CONNECT.
  case unexpectedPacket
  /// No namespace was connected in time.
  case connectTimeout
}
