import Foundation

/// Splits the content of a file descriptor into lines, using a bounded amount of memory.
struct LineReader {
  /// One line, without its line ending.
  enum Line: Equatable {
    case text([UInt8])
    /// The line is longer than the limit and was skipped.
    case tooLong
  }

  /// How many bytes are read at a time.
  static let chunkBytes = 256 * 1024
  /// The maximum length of a line, in bytes. Every message that the server accepts fits, even with all its characters
  /// escaped.
  static let maximumLineBytes = 1024 * 1024

  private let descriptor: Int32
  private let lineBytes: Int
  private let chunkBytes: Int
  private var buffer: [UInt8] = []
  private var start = 0
  private var isAtEnd = false
  /// How many bytes were consumed by the returned lines, with their line endings.
  private(set) var consumed: UInt64 = 0

  init(
    _ descriptor: Int32, lineBytes: Int = LineReader.maximumLineBytes, chunkBytes: Int = LineReader.chunkBytes
  ) {
    self.descriptor = descriptor
    self.lineBytes = lineBytes
    self.chunkBytes = chunkBytes
  }

  /// The next line. Nil at the end.
  mutating func next() throws -> Line? {
    var searched = start
    while true {
      if let end = newline(from: searched) {
        defer { advance(to: end + 1) }
        return line(endingAt: end)
      }
      // The one byte beyond the limit may be a carriage return.
      if buffer.count - start > lineBytes + 1 { return try skipLine() }
      let before = buffer.count - start
      if isAtEnd {
        guard start < buffer.count else { return nil }
        defer { advance(to: buffer.count) }
        return line(endingAt: buffer.count)
      }
      try fill()
      searched = start + before
    }
  }

  private mutating func skipLine() throws -> Line? {
    while true {
      if let end = newline(from: start) {
        advance(to: end + 1)
        return .tooLong
      }
      advance(to: buffer.count)
      if isAtEnd { return .tooLong }
      try fill()
    }
  }

  private func newline(from index: Int) -> Int? {
    buffer.withUnsafeBytes { bytes in
      guard index < bytes.count, let base = bytes.baseAddress,
        let found = memchr(base.advanced(by: index), Int32(UInt8(ascii: "\n")), bytes.count - index)
      else { return nil }
      return UnsafeRawPointer(found) - base
    }
  }

  private func line(endingAt end: Int) -> Line {
    let hasReturn = end > start && buffer[end - 1] == UInt8(ascii: "\r")
    let line = buffer[start..<(hasReturn ? end - 1 : end)]
    return line.count > lineBytes ? .tooLong : .text(Array(line))
  }

  private mutating func advance(to index: Int) {
    consumed += UInt64(index - start)
    start = index
  }

  /// Reads the next chunk. Sets `isAtEnd` if there is no more data.
  private mutating func fill() throws {
    buffer.removeFirst(start)
    start = 0
    let used = buffer.count
    buffer.append(contentsOf: repeatElement(0, count: chunkBytes))
    var count = -1
    repeat {
      count = buffer.withUnsafeMutableBytes { bytes in
        read(descriptor, bytes.baseAddress?.advanced(by: used), chunkBytes)
      }
    } while count < 0 && errno == EINTR
    let failure = errno
    buffer.removeLast(chunkBytes - max(count, 0))
    guard count >= 0 else {
      throw ToolError("the history cannot be read", because: SystemError.text(failure))
    }
    isAtEnd = count == 0
  }
}
