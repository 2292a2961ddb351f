import ChatPrimitives
import ChatService
import Logging
import NIOCore
import SocketProtocols
import Synchronization

/// A path with sessions of Engine.IO, protocol 4.
final class EngineEndpoint: Sendable {
  /// What the operator or the protocol above decides.
  struct Settings: Sendable {
    var path: String
    var limits: EngineLimits
    /// Which web pages may open sessions; nil if all may.
    var origins: OriginRule?
    var addresses: AddressRateCheck
    var logger: Logger
    /// The limits of unfinished messages; nil if only their size is limited.
    var unfinished: UnfinishedLimits?
    /// Makes the application of a session. Called on the event loop of the session.
    var makeApplication: @Sendable (EngineChannel) -> any EngineApplication
  }

  private struct Sessions {
    var byID: [EngineSessionID: EngineChannel] = [:]
    var isStopping = false
  }

  /// How often the server looks whether all sessions have ended when it stops, in milliseconds.
  private static let stopMilliseconds = 20

  let settings: Settings
  private let sessions = Mutex(Sessions())
  private let addresses = AddressLimit(
    Limits.engineSessionsOfAddress, name: "limitSessions",
    warning: "an address has too many open sessions of Socket.IO; further ones are rejected")

  init(_ settings: Settings) {
    self.settings = settings
  }

  /// - Throws: `Refusal` and `ServiceError` if the address, or the server, can have no further session.
  func admit(_ origin: CommandOrigin, _ credentials: Credentials) throws -> EngineOpening {
    let (count, isStopping) = sessions.withLock { ($0.byID.count, $0.isStopping) }
    guard !isStopping else { throw ServiceError.shuttingDown }
    guard count < Limits.engineSessions else { throw ServiceError.overloaded }
    guard let reservation = addresses.reserve(for: origin.address, origin.logger) else {
      throw Refusal.tooManySessionsOfAddress
    }
    return EngineOpening(endpoint: self, origin: origin, credentials: credentials, reservation: reservation)
  }

  func find(_ id: EngineSessionID) throws(EngineError) -> EngineChannel {
    guard let session = sessions.withLock({ $0.byID[id] }) else { throw .unknownSession }
    return session
  }

  fileprivate func add(_ session: EngineChannel) {
    let isStopping = sessions.withLock { sessions in
      sessions.byID[session.id] = session
      return sessions.isStopping
    }
    if isStopping { session.stop() }
  }

  fileprivate func remove(_ session: EngineChannel) {
    sessions.withLock { sessions in
      if sessions.byID[session.id] === session { sessions.byID[session.id] = nil }
    }
  }

  /// Opens no more sessions, and lets the applications end the open ones.
  func stop() {
    let open = sessions.withLock { sessions in
      sessions.isStopping = true
      return Array(sessions.byID.values)
    }
    for session in open { session.stop() }
  }

  /// Returns when no session is open. A client that polls fetches the end of its session with its next requests, and the
  /// server closes idle connections once this has returned.
  func waitForSessions(until end: ContinuousClock.Instant) async {
    while sessions.withLock({ !$0.byID.isEmpty }), .now < end, !Task.isCancelled {
      try? await Task.sleep(for: .milliseconds(Self.stopMilliseconds))
    }
  }
}

/// A session that may be opened.
struct EngineOpening: Sendable {
  fileprivate let endpoint: EngineEndpoint
  fileprivate let origin: CommandOrigin
  fileprivate let credentials: Credentials
  fileprivate let reservation: KeyedLimit<NetworkAddress?>.Reservation

  /// Opens a session for a client that polls.
  /// - Returns: the body of the response.
  func poll(on eventLoop: any EventLoop) async throws -> [UInt8] {
    let response = eventLoop.makePromise(of: [UInt8].self)
    eventLoop.execute {
      let (session, connection, actions) = open(.polling, on: eventLoop)
      connection.open(actions, endpoint.settings.makeApplication(session), poll: response)
    }
    return try await response.futureResult.get()
  }

  /// Opens a session with a WebSocket. Called on the event loop of the WebSocket.
  func open(_ socket: EngineSocket, on channel: WebSocketChannel) -> EngineChannel {
    let (session, connection, actions) = open(.websocket, on: channel.eventLoop)
    connection.open(actions, endpoint.settings.makeApplication(session), socket: socket)
    return session
  }

  private func open(
    _ transport: EngineTransport, on eventLoop: any EventLoop
  ) -> (EngineChannel, EngineConnection, [EngineAction]) {
    let (session, actions) = EngineSession.open(
      id: .random(), transport: transport, limits: endpoint.settings.limits, now: .zero)
    let channel = EngineChannel(session.id, eventLoop, origin, credentials)
    let connection = EngineConnection(session, on: eventLoop) {
      endpoint.remove(channel)
      reservation.release()
    }
    channel.attach(connection)
    endpoint.add(channel)
    return (channel, connection, actions)
  }
}
