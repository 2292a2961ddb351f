import HTTPTypes
import NIOCore
import SocketProtocols

/// The application on top of a WebSocket. All of it is called on the event loop of the connection.
protocol WebSocketApplication: AnyObject {
  /// The handshake is complete. Keep the socket to send.
  func opened(_ socket: WebSocketChannel)

  func received(_ message: WebSocketMessage)

  /// The longest message that it takes now, in bytes, if that is less than the limit of the connection.
  var longestMessage: Int { get }

  /// The client broke a rule of RFC 6455 or a limit. Send a last message if there is one to send; the socket is closed with
  /// the failure's code afterwards.
  func failed(_ failure: WebSocketFailure)

  /// Called once, as the last call, also if the connection was lost. The socket can send nothing any more.
  func closed(_ ending: WebSocketEnding)

  /// The server is told to stop. By default, the socket is closed at once with the code 1001.
  /// - Returns: how long the application may take to finish and to close the socket itself. Then it is closed.
  func willStop() -> Duration
}

extension WebSocketApplication {
  func willStop() -> Duration { .zero }

  var longestMessage: Int { .max }
}

/// Decides which requests become WebSockets. It is asked for a GET with `Upgrade: websocket` and a valid handshake, when no
/// other request of the connection is in flight.
protocol WebSocketAdmission: Sendable {
  /// It must take less than `StalledConnections.timeout`. The task is cancelled when the client leaves.
  /// - Returns: nil if the path is not one of a WebSocket, or if the request is to be refused. Then the router responds to it
  ///   as to any other request: its route repeats the check and sends the problem. The connection ends with that response.
  func accept(_ request: HTTPRequest, on channel: any Channel) async -> WebSocketAcceptance?
}

struct WebSocketAcceptance: Sendable {
  var limits: WebSocketConnection.Limits
  /// Nil if only the size of unfinished messages is limited.
  var unfinished: UnfinishedBytes?
  /// The context of the request, for the access log; nil if it has none.
  var context: ServerContext?
  /// Called on the event loop of the connection.
  var makeApplication: @Sendable () -> any WebSocketApplication
}
