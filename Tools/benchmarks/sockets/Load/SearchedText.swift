/// A text to search for (Horspool's algorithm). The longer it is, the fewer bytes are looked at.
struct SearchedText {
  let bytes: [UInt8]
  /// By the byte at the end of the window: how far the window can move.
  private let skips: [Int]

  init(_ text: String) {
    bytes = Array(text.utf8)
    var skips = [Int](repeating: bytes.count, count: 256)
    for (index, byte) in bytes.dropLast().enumerated() { skips[Int(byte)] = bytes.count - 1 - index }
    self.skips = skips
  }

  /// What must be kept of a read in which the text does not end.
  var longestStart: Int { bytes.count - 1 }

  /// Returns the index after the first occurrence at or after an index.
  func end(in data: UnsafeRawBufferPointer, from start: Int = 0) -> Int? {
    var end = start + bytes.count
    while end <= data.count {
      if data[(end - bytes.count)..<end].elementsEqual(bytes) { return end }
      end += skips[Int(data[end - 1])]
    }
    return nil
  }
}
