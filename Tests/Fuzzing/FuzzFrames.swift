import SocketProtocols

/// Limits that short inputs reach.
private let limits = WebSocketMessages.Limits(messageBytes: 200, fragments: 6)

/// Tries frames of a WebSocket. The input: the first byte of a frame as on the wire (final, reserved bits, opcode), a byte
/// with the mask bit and the length, payload; then the next frame.
func fuzzFrames(_ input: [UInt8]) {
  let frames = frames(in: input)
  assemble(frames)
  converse(frames)
}

private typealias Frame = (header: WebSocketFrameHeader, payload: [UInt8])

private func frames(in input: [UInt8]) -> [Frame] {
  var input = InputBytes(input)
  var frames: [Frame] = []
  while !input.rest.isEmpty {
    let first = input.byte()
    let second = input.byte()
    let header = WebSocketFrameHeader(
      isFinal: first & 0x80 != 0, reserved: first >> 4 & 0x7, opcode: first & 0xf, isMasked: second & 0x80 != 0)
    frames.append((header, input.take(Int(second & 0x7f))))
  }
  return frames
}

private func assemble(_ frames: [Frame]) {
  var messages = WebSocketMessages(limits: limits)
  var data: [UInt8] = []
  for frame in frames {
    guard let output = try? messages.receive(frame.header, payload: frame.payload) else { return }
    if frame.header.opcode < 8 { data += frame.payload }
    switch output {
    case .incomplete: demand(!frame.header.isFinal, "a final frame ends its message")
    case .message(let message):
      demand(message.bytes == data, "a message is the payloads of its frames")
      demand(data.count <= limits.messageBytes, "a message is within its limit")
      tryMessage(message)
      data = []
    case .ping(let payload), .pong(let payload):
      demand(payload == frame.payload && payload.count <= WebSocketFrameHeader.controlBytes, "a control frame is short")
    case .close(let close):
      demand((try? WebSocketClose(parsing: close.payload)) == close, "a close frame survives its bytes")
      return
    }
  }
}

/// A message gives the same in two frames, wherever it is split.
private func tryMessage(_ message: WebSocketMessage) {
  let opcode: WebSocketOpcode
  switch message {
  case .text: opcode = .text
  case .binary: opcode = .binary
  }
  if opcode == .text {
    demand(String(validating: message.bytes, as: UTF8.self) != nil, "text is valid UTF-8")
  }
  let bytes = message.bytes
  for place in 0...bytes.count {
    var messages = WebSocketMessages(limits: limits)
    let first = WebSocketFrameHeader(isFinal: false, opcode: opcode.rawValue)
    let second = WebSocketFrameHeader(opcode: WebSocketOpcode.continuation.rawValue)
    let begun = try? messages.receive(first, payload: Array(bytes[..<place]))
    let ended = try? messages.receive(second, payload: Array(bytes[place...]))
    demand(begun == .incomplete && ended == .message(message), "a message does not depend on its frames")
  }
}

private func converse(_ frames: [Frame]) {
  var connection = WebSocketConnection(
    limits: WebSocketConnection.Limits(
      messages: limits, pingInterval: .seconds(25), silence: .seconds(60), closing: .seconds(5)),
    now: .zero)
  var hasEnded = false
  for (index, frame) in frames.enumerated() {
    let now = Duration.seconds(index)
    var actions = connection.receive(frame.header, payload: frame.payload, now: now) + connection.tick(now: now)
    if actions.contains(where: { if case .failed = $0 { true } else { false } }) {
      actions += connection.close(.protocolError, now: now)
      demand(actions.last == .end(.failed), "the close frame after a failure is the last")
    }
    demand(!hasEnded || actions.isEmpty, "nothing follows the end")
    if case .end? = actions.last { hasEnded = true }
    demand(hasEnded != connection.isWritable, "a connection that has ended takes nothing")
  }
}
