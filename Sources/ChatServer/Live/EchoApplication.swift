import ChatPrimitives
import HTTPTypes
import NIOCore
import SocketProtocols

/// Sends each message back, for the tests of the protocol.
final class EchoApplication: WebSocketApplication {
  private var socket: WebSocketChannel?

  func opened(_ socket: WebSocketChannel) { self.socket = socket }

  func received(_ message: WebSocketMessage) { socket?.send(message) }

  func failed(_ failure: WebSocketFailure) {}

  func closed(_ ending: WebSocketEnding) { socket = nil }
}

/// Accepts every client.
struct EchoAdmission: WebSocketAdmission {
  private static let limits = WebSocketConnection.Limits(
    messages: WebSocketMessages.Limits(
      messageBytes: Limits.conformanceMessageBytes, fragments: Limits.conformanceFragments),
    pingInterval: .seconds(Limits.webSocketPingSeconds), silence: .seconds(Limits.webSocketSilenceSeconds),
    closing: .seconds(Limits.webSocketClosingSeconds))

  func accept(_ request: HTTPRequest, on channel: any Channel) async -> WebSocketAcceptance? {
    WebSocketAcceptance(limits: Self.limits) { EchoApplication() }
  }
}
