/// The bytes of a file by page. A page that holds only zeros takes no memory.
struct SparseBytes: Sendable {
  static let pageBytes = 4096

  private(set) var count = 0
  /// An empty page means zeros.
  private var pages: [[UInt8]] = []

  init(_ bytes: [UInt8] = []) {
    bytes.withUnsafeBytes { write($0, at: 0) }
  }

  /// Writes bytes, and extends the file if necessary.
  mutating func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) {
    if bytes.count > 0 { grow(to: offset + bytes.count) }
    Self.forEachPage(offset, bytes.count) { page, start, done, step in
      let piece = UnsafeRawBufferPointer(rebasing: bytes[done..<done + step])
      if pages[page].isEmpty {
        if piece.isZero { return }
        pages[page] = [UInt8](repeating: 0, count: Self.pageBytes)
      }
      pages[page].withUnsafeMutableBytes { target in
        UnsafeMutableRawBufferPointer(rebasing: target[start..<start + step]).copyMemory(from: piece)
      }
    }
  }

  mutating func writeZeros(at offset: Int, count length: Int) {
    if length > 0 { grow(to: offset + length) }
    Self.forEachPage(offset, length) { page, start, _, step in
      if pages[page].isEmpty { return }
      if step == Self.pageBytes {
        pages[page] = []
      } else {
        pages[page].withUnsafeMutableBytes { target in
          for index in start..<start + step { target[index] = 0 }
        }
      }
    }
  }

  /// - Returns: the number of bytes read.
  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) -> Int {
    let length = max(0, min(buffer.count, count - offset))
    Self.forEachPage(offset, length) { page, start, done, step in
      let target = UnsafeMutableRawBufferPointer(rebasing: buffer[done..<done + step])
      if pages[page].isEmpty {
        for index in target.indices { target[index] = 0 }
      } else {
        pages[page].withUnsafeBytes { bytes in
          target.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[start..<start + step]))
        }
      }
    }
    return length
  }

  /// The bytes of a range, with zeros after the end.
  func bytes(_ range: Range<Int>) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: range.count)
    bytes.withUnsafeMutableBytes { _ = read(into: $0, at: range.lowerBound) }
    return bytes
  }

  var all: [UInt8] { bytes(0..<count) }

  func isZeroPage(at offset: Int) -> Bool {
    let page = offset / Self.pageBytes
    return page >= pages.count || pages[page].isEmpty
  }

  /// Cuts the file, or extends it with zeros.
  mutating func resize(to length: Int) {
    if length < count {
      writeZeros(at: length, count: count - length)
      pages.removeLast(pages.count - Self.pageCount(length))
      count = length
    } else {
      grow(to: length)
    }
  }

  private mutating func grow(to length: Int) {
    guard length > count else { return }
    count = length
    while pages.count < Self.pageCount(length) { pages.append([]) }
  }

  private static func pageCount(_ length: Int) -> Int { (length + pageBytes - 1) / pageBytes }

  /// Calls `body` with each page of a range: its number, the offset in the page where the range begins, the number of
  /// bytes of the range before it, and the number of bytes in it.
  private static func forEachPage(
    _ offset: Int, _ length: Int, _ body: (_ page: Int, _ start: Int, _ done: Int, _ step: Int) -> Void
  ) {
    var done = 0
    while done < length {
      let start = (offset + done) % pageBytes
      let step = min(pageBytes - start, length - done)
      body((offset + done) / pageBytes, start, done, step)
      done += step
    }
  }
}

extension UnsafeRawBufferPointer {
  /// Whether all bytes are zero.
  var isZero: Bool {
    var offset = 0
    while offset + 8 <= count {
      if loadUnaligned(fromByteOffset: offset, as: UInt64.self) != 0 { return false }
      offset += 8
    }
    while offset < count {
      if self[offset] != 0 { return false }
      offset += 1
    }
    return true
  }
}
