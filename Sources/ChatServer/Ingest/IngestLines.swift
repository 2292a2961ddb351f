import ChatPrimitives
import NIOCore

/// The lines of one ingest body, numbered from 1, up to the body's bounds.
struct IngestLines {
  /// How much one body may hold.
  struct Bounds {
    var bytes = Limits.ingestBodyBytes
    var lines = Limits.ingestLines
    var lineBytes = Limits.ingestLineBytes
  }

  struct Line: Equatable {
    let number: Int
    let content: Result<ByteBuffer, Refusal>
  }

  /// A bound of the body was passed: what comes after it is not looked at.
  private(set) var isOver = false
  private let bounds: Bounds
  private var cutter: NDJSONLines
  private var number = 0
  private var byteCount = 0
  private var lineCount = 0

  init(bounds: Bounds = Bounds()) {
    self.bounds = bounds
    cutter = NDJSONLines(limit: bounds.lineBytes)
  }

  /// The lines that end within these bytes, save blank ones.
  mutating func take(_ buffer: ByteBuffer) -> [Line] {
    guard !isOver else { return [] }
    let room = bounds.bytes - byteCount
    byteCount += buffer.readableBytes
    guard buffer.readableBytes > room else { return numbered(cutter.take(buffer)) }
    var lines = numbered(cutter.take(buffer.getSlice(at: buffer.readerIndex, length: room) ?? ByteBuffer()))
    if !isOver {
      number += 1
      lines.append(end(.bodyTooLarge(limit: bounds.bytes)))
    }
    return lines
  }

  /// What stands after the last line's end.
  mutating func finish() -> [Line] {
    isOver ? [] : numbered(cutter.finish().map { [$0] } ?? [])
  }

  private mutating func numbered(_ found: [NDJSONLines.Line]) -> [Line] {
    var lines: [Line] = []
    for line in found {
      number += 1
      if line == .blank { continue }
      guard lineCount < bounds.lines else { return lines + [end(.tooManyLines(limit: bounds.lines))] }
      lineCount += 1
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
