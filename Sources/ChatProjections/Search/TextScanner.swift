/// Divides a text into words and into single characters of scripts that are searched by pairs. Works on UTF-8 and does
/// not allocate.
enum TextScanner {
  /// The length up to which words are compared, in bytes of UTF-8. It limits the cost of long strings that are not
  /// words, such as an encoded picture.
  static let longestWord = 64

  /// - Parameters:
  ///   - text: UTF-8 in composed form; invalid UTF-8 separates words.
  ///   - word: receives each word's folded bytes and its range.
  ///   - paired: receives the range of each character of a script that is searched by pairs, and whether it directly
  ///     follows another.
  @inline(__always)
  static func scan(
    _ text: UnsafeBufferPointer<UInt8>,
    word: (_ folded: UnsafeBufferPointer<UInt8>, _ place: Range<Int>) -> Void,
    paired: (_ place: Range<Int>, _ isJoined: Bool) -> Void
  ) {
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: longestWord) { buffer in
      var open = OpenWord(buffer)
      var index = 0
      // The end of the last paired character.
      var joint = -1
      while index < text.count {
        let byte = text[index]
        if byte < 0x80 {
          let letter = folded(ascii: byte)
          if letter == 0 { open.close(word) } else { open.add(letter, at: index) }
          index += 1
          continue
        }
        let (scalar, length) = scalar(in: text, at: index)
        switch CharacterFolding.kind(of: scalar) {
        case .separator: open.close(word)
        case .ignored: open.extend(to: index + length)
        case .letter(let letter): open.add(letter, at: index, length)
        case .paired:
          open.close(word)
          paired(index..<index + length, joint == index)
          joint = index + length
        }
        index += length
      }
      open.close(word)
    }
  }

  /// Zero if the byte is neither a letter nor a digit.
  @inline(__always)
  private static func folded(ascii byte: UInt8) -> UInt8 {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): byte
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte | 0x20
    default: 0
    }
  }

  /// The character that begins at `index`, and its length in bytes; a space of length one if the bytes are invalid.
  private static func scalar(in text: UnsafeBufferPointer<UInt8>, at index: Int) -> (Unicode.Scalar, length: Int) {
    let lead = UInt32(text[index])
    let length = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4
    guard lead >= 0xc2, index + length <= text.count else { return (" ", 1) }
    var value = lead & (0xff >> UInt32(length + 1))
    for next in text[index + 1..<index + length] {
      guard next & 0xc0 == 0x80 else { return (" ", 1) }
      value = value << 6 | UInt32(next & 0x3f)
    }
    guard let scalar = Unicode.Scalar(value) else { return (" ", 1) }
    return (scalar, length)
  }
}

/// The current word, folded, in a buffer of `TextScanner.longestWord` bytes.
private struct OpenWord {
  private let buffer: UnsafeMutableBufferPointer<UInt8>
  private var count = 0
  private var start = 0
  private var end = 0
  /// The rest of a word that is too long is ignored.
  private var isFull = false

  init(_ buffer: UnsafeMutableBufferPointer<UInt8>) {
    self.buffer = buffer
  }

  @inline(__always)
  mutating func add(_ byte: UInt8, at index: Int) {
    if count == 0 { start = index }
    end = index + 1
    guard count < buffer.count, !isFull else { return }
    buffer[count] = byte
    count += 1
  }

  mutating func add(_ letter: Unicode.Scalar, at index: Int, _ length: Int) {
    if count == 0 { start = index }
    end = index + length
    let bytes = Unicode.UTF8.encode(letter) ?? Unicode.UTF8.encodedReplacementCharacter
    guard count + bytes.count <= buffer.count, !isFull else {
      isFull = true
      return
    }
    for byte in bytes {
      buffer[count] = byte
      count += 1
    }
  }

  mutating func extend(to end: Int) {
    if count > 0 { self.end = end }
  }

  @inline(__always)
  mutating func close(_ word: (UnsafeBufferPointer<UInt8>, Range<Int>) -> Void) {
    guard count > 0 else { return }
    word(UnsafeBufferPointer(rebasing: buffer[..<count]), start..<end)
    count = 0
    isFull = false
  }
}
