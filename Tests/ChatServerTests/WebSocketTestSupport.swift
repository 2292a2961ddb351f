import NIOCore
import SocketProtocols
import Synchronization

@testable import ChatServer

/// Encodes frames as a client sends them, with a mask.
enum ClientFrames {
  private static let mask: [UInt8] = [0x12, 0x34, 0x56, 0x78]

  /// - Parameter payload: at most 125 bytes.
  static func encode(_ opcode: WebSocketOpcode, _ payload: [UInt8], isFinal: Bool = true) -> ByteBuffer {
    var buffer = ByteBuffer(bytes: [(isFinal ? 0x80 : 0) | opcode.rawValue, 0x80 | UInt8(payload.count)])
    buffer.writeBytes(mask)
    buffer.writeBytes(payload.enumerated().map { index, byte in byte ^ mask[index % mask.count] })
    return buffer
  }

  static func text(_ text: String) -> ByteBuffer { encode(.text, Array(text.utf8)) }
}

/// Records what an application is told. Everything is on one event loop, so the lock is only for the compiler.
final class RecordingApplication: WebSocketApplication, Sendable {
  enum Call: Equatable {
    case opened
    case received(WebSocketMessage)
    case failed(WebSocketFailure)
    case closed(WebSocketEnding)

    static func text(_ text: String) -> Call { .received(.text(Array(text.utf8))) }
  }

  private let recorded = Mutex<(calls: [Call], socket: WebSocketChannel?)>(([], nil))
  let longestMessage: Int
  private let patience: Duration
  private let react: @Sendable (WebSocketMessage, WebSocketChannel) -> Void

  /// - Parameters:
  ///   - patience: what `willStop` returns.
  ///   - longestMessage: the longest message that it takes.
  ///   - react: called with each message.
  init(
    patience: Duration = .zero, longestMessage: Int = .max,
    react: @escaping @Sendable (WebSocketMessage, WebSocketChannel) -> Void = { _, _ in }
  ) {
    self.patience = patience
    self.longestMessage = longestMessage
    self.react = react
  }

  var calls: [Call] { recorded.withLock { $0.calls } }
  var socket: WebSocketChannel? { recorded.withLock { $0.socket } }

  private func record(_ call: Call) { recorded.withLock { $0.calls.append(call) } }

  func opened(_ socket: WebSocketChannel) {
    recorded.withLock { $0.socket = socket }
    record(.opened)
  }

  func received(_ message: WebSocketMessage) {
    record(.received(message))
    if let socket { react(message, socket) }
  }

  func failed(_ failure: WebSocketFailure) { record(.failed(failure)) }

  func closed(_ ending: WebSocketEnding) { record(.closed(ending)) }

  func willStop() -> Duration { patience }
}

/// Counts the reads that reach the socket.
final class ReadCounter: ChannelOutboundHandler, Sendable {
  typealias OutboundIn = ByteBuffer

  private let counted = Mutex(0)
  var count: Int { counted.withLock { $0 } }

  func read(context: ChannelHandlerContext) {
    counted.withLock { $0 += 1 }
    context.read()
  }
}

extension WebSocketConnection.Limits {
  static let small = WebSocketConnection.Limits(
    messages: WebSocketMessages.Limits(messageBytes: 64, fragments: 4), pingInterval: .seconds(25),
    silence: .seconds(60), closing: .seconds(5))
}
