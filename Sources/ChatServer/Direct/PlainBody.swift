import NIOCore

/// The most common body of a message: an object with only a text, in ASCII and without escapes. It is read without a JSON
/// decoder.
enum PlainBody {
  /// - Returns: nil for every other body, which says nothing about whether it is valid.
  static func text(in body: ByteBuffer) -> String? {
    body.withUnsafeReadableBytes { bytes in
      var scanner = Scanner(bytes: bytes)
      guard scanner.skip("{"), scanner.skip("\"text\""), scanner.skip(":"), let text = scanner.string(),
        scanner.skip("}"), scanner.isAtEnd
      else { return nil }
      return String(decoding: text, as: UTF8.self)
    }
  }

  private struct Scanner {
    let bytes: UnsafeRawBufferPointer
    private var index = 0

    init(bytes: UnsafeRawBufferPointer) {
      self.bytes = bytes
    }

    private mutating func skipBlanks() {
      while index < bytes.count, Self.isBlank(bytes[index]) { index += 1 }
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09 }

    /// Skips white space and then exactly this.
    mutating func skip(_ token: StaticString) -> Bool {
      skipBlanks()
      let count = token.utf8CodeUnitCount
      guard bytes.count - index >= count else { return false }
      for offset in 0..<count where bytes[index + offset] != token.utf8Start[offset] { return false }
      index += count
      return true
    }

    /// The bytes between two quotes.
    mutating func string() -> UnsafeRawBufferPointer? {
      guard skip("\"") else { return nil }
      let start = index
      while index < bytes.count {
        let byte = bytes[index]
        if byte == UInt8(ascii: "\"") {
          defer { index += 1 }
          return UnsafeRawBufferPointer(rebasing: bytes[start..<index])
        }
        guard byte >= 0x20, byte < 0x7f, byte != UInt8(ascii: "\\") else { return nil }
        index += 1
      }
      return nil
    }

    var isAtEnd: Bool {
      mutating get {
        skipBlanks()
        return index == bytes.count
      }
    }
  }
}
