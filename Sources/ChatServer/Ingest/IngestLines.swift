import ChatPrimitives
import ChatService
import NIOCore

/// The lines of one ingest body, numbered from 1, up to the limits of the body.
struct IngestLines {
  /// The limits of one body.
  struct Bounds {
    var bytes = Limits.ingestBodyBytes
    var lines = Limits.ingestLines
    var lineBytes = Limits.ingestLineBytes
    /// How many lines are split off at once, including blank ones. A read may contain tens of thousands of blank lines,
    /// and the reader lets other tasks run between calls.
    var linesAtOnce = 2 * BulkStream.chunkCommands
  }

  struct Line: Equatable {
    let number: Int
    let content: Result<ByteBuffer, Refusal>
  }

  /// Whether a limit of the body was exceeded, or the stream was ended. Everything after that is ignored.
  private(set) var isOver = false
  private let bounds: Bounds
  private var cutter: NDJSONLines
  private var number = 0
  private var byteCount = 0

  init(bounds: Bounds = Bounds()) {
    self.bounds = bounds
    cutter = NDJSONLines(limit: bounds.lineBytes)
  }

  /// The next lines that end within these bytes, except blank ones. If bytes are left in the buffer, call it again.
  mutating func take(_ buffer: inout ByteBuffer) -> [Line] {
    guard !isOver else {
      buffer.moveReaderIndex(to: buffer.writerIndex)
      return []
    }
    let allowed = min(buffer.readableBytes, bounds.bytes - byteCount)
    var part = buffer.getSlice(at: buffer.readerIndex, length: allowed) ?? ByteBuffer()
    var lines = numbered(cutter.take(&part, most: bounds.linesAtOnce))
    let taken = allowed - part.readableBytes
    byteCount += taken
    buffer.moveReaderIndex(forwardBy: taken)
    if !isOver, part.readableBytes == 0, buffer.readableBytes > 0 {
      number += 1
      lines.append(end(.bodyTooLarge(limit: bounds.bytes)))
    }
    return lines
  }

  /// The last line, if it does not end with a line break.
  mutating func finish() -> [Line] {
    isOver ? [] : numbered(cutter.finish().map { [$0] } ?? [])
  }

  /// Ignores everything after the lines that were already taken.
  mutating func stop() { isOver = true }

  private mutating func numbered(_ found: [NDJSONLines.Line]) -> [Line] {
    var lines: [Line] = []
    for line in found {
      number += 1
      guard number <= bounds.lines else { return lines + [end(.tooManyLines(limit: bounds.lines))] }
      switch line {
      case .blank: continue
      case .tooLong:
        lines.append(Line(number: number, content: .failure(.lineTooLong(limit: bounds.lineBytes))))
      case .text(let bytes): lines.append(Line(number: number, content: .success(bytes)))
      }
    }
    return lines
  }

  private mutating func end(_ refusal: Refusal) -> Line {
    isOver = true
    return Line(number: number, content: .failure(refusal))
  }
}
