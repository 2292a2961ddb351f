import ChatPrimitives
import NIOCore

/// Reads the most common JSON without a decoder: an object whose values are strings, with no escape anywhere. All other
/// JSON, valid or not, is left to `JSONBody`.
enum PlainJSON {
  /// Passes each member of the object to `take`, in order, as UTF-8 without the quotes. The bytes are valid during the
  /// call; they are not validated.
  /// - Returns: true if the body is such an object and nothing else, and `take` accepted each member.
  static func readMembers(
    of body: ByteBuffer, _ take: (_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Bool
  ) -> Bool {
    body.withUnsafeReadableBytes { bytes in
      var scanner = Scanner(bytes: bytes)
      guard scanner.skip("{") else { return false }
      repeat {
        guard let name = scanner.string(), scanner.skip(":"), let value = scanner.string(), take(name, value) else {
          return false
        }
      } while scanner.skip(",")
      return scanner.skip("}") && scanner.isAtEnd
    }
  }

  /// A value as text.
  /// - Returns: nil if the decoder would refuse it.
  static func text(_ value: UnsafeRawBufferPointer) -> String? {
    guard let text = String(validating: value, as: UTF8.self), CombiningMarks.areFew(in: text) else { return nil }
    return text
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

    /// Skips white space and then this character.
    mutating func skip(_ character: Unicode.Scalar) -> Bool {
      skipBlanks()
      guard index < bytes.count, bytes[index] == UInt8(ascii: character) else { return false }
      index += 1
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
        guard byte >= 0x20, byte != UInt8(ascii: "\\") else { return nil }
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

extension UnsafeRawBufferPointer {
  /// Whether these are exactly the bytes of the text.
  func equals(_ text: StaticString) -> Bool {
    guard count == text.utf8CodeUnitCount else { return false }
    for index in 0..<count where self[index] != text.utf8Start[index] { return false }
    return true
  }
}
