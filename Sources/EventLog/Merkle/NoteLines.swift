/// Reads a text in one of the C2SP formats line by line. Each line ends with one newline.
struct NoteLines {
  private let bytes: [UInt8]
  private var offset = 0

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
  }

  var isAtEnd: Bool { offset == bytes.count }

  /// The rest of the text that has not been read.
  var rest: [UInt8] { Array(bytes[offset...]) }

  /// The next line without its newline; nil at the end, for a last line without a newline, or if the line is not UTF-8.
  mutating func next() -> String? {
    guard let end = bytes[offset...].firstIndex(of: UInt8(ascii: "\n")) else { return nil }
    guard let line = String(validating: bytes[offset..<end], as: UTF8.self) else { return nil }
    offset = end + 1
    return line
  }

  /// The text after a word and a space at the start of a line; nil if the line does not start with them.
  static func value(of word: String, in line: String) -> String? {
    let prefix = Array((word + " ").utf8)
    guard line.utf8.starts(with: prefix) else { return nil }
    return String(decoding: line.utf8.dropFirst(prefix.count), as: UTF8.self)
  }

  /// A decimal number without sign or leading zeros.
  static func decimal(_ text: String) -> UInt64? {
    guard let value = UInt64(text), String(value).utf8.elementsEqual(text.utf8) else { return nil }
    return value
  }

  /// Reads the hashes of a path, one in each line, up to the empty line that ends it.
  mutating func path() throws(CheckpointFlaw) -> [MerkleHash] {
    var path: [MerkleHash] = []
    while let line = next() {
      if line.isEmpty { return path }
      guard path.count < MerkleTree.maximumPathHashes else {
        throw CheckpointFlaw(.malformed, "the path has more than \(MerkleTree.maximumPathHashes) hashes")
      }
      guard let hash = MerkleHash(base64: line) else {
        throw CheckpointFlaw(.malformed, "hash \(path.count + 1) of the path is not 32 bytes in Base64")
      }
      path.append(hash)
    }
    throw CheckpointFlaw(.malformed, "no empty line ends the path")
  }
}
