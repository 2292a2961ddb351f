import NIOCore

/// Splits a stream of bytes into lines. A line that exceeds the limit is dropped up to its end and reported.
struct NDJSONLines {
  enum Line: Equatable {
    case text(ByteBuffer)
    case blank
    case tooLong
  }

  private let limit: Int
  private var rest = ByteBuffer()
  private var isDropping = false

  /// - Parameter limit: the most bytes of one line, without its line break.
  init(limit: Int) {
    self.limit = limit
  }

  /// The next lines that end within these bytes. It stops at `most` lines and leaves the other bytes in the buffer.
  mutating func take(_ buffer: inout ByteBuffer, most: Int = .max) -> [Line] {
    var lines: [Line] = []
    while lines.count < most,
      let length = buffer.readableBytesView.firstIndex(of: UInt8(ascii: "\n")).map({ $0 - buffer.readerIndex }),
      var piece = buffer.readSlice(length: length)
    {
      buffer.moveReaderIndex(forwardBy: 1)
      if isDropping || rest.readableBytes + piece.readableBytes > limit {
        lines.append(.tooLong)
      } else if rest.readableBytes == 0 {
        lines.append(Self.line(piece))
      } else {
        rest.writeBuffer(&piece)
        lines.append(Self.line(rest))
      }
      isDropping = false
      rest = ByteBuffer()
    }
    guard lines.count < most else { return lines }
    if isDropping || rest.readableBytes + buffer.readableBytes > limit + 1 {
      isDropping = true
      rest = ByteBuffer()
      buffer.moveReaderIndex(to: buffer.writerIndex)
    } else {
      rest.writeBuffer(&buffer)
    }
    return lines
  }

  /// The last line, if it does not end with a line break.
  mutating func finish() -> Line? {
    defer { rest = ByteBuffer() }
    if isDropping || rest.readableBytes > limit { return .tooLong }
    return rest.readableBytes == 0 ? nil : Self.line(rest)
  }

  private static func line(_ bytes: ByteBuffer) -> Line {
    var bytes = bytes
    if bytes.readableBytesView.last == UInt8(ascii: "\r") { bytes.moveWriterIndex(to: bytes.writerIndex - 1) }
    let isBlank = bytes.readableBytesView.allSatisfy { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
    return isBlank ? .blank : .text(bytes)
  }
}
