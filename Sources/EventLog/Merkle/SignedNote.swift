/// A text followed by signatures: C2SP, `signed-note`.
package struct SignedNote: Sendable, Hashable {
  /// The maximum size of a note, in bytes. A larger one is rejected.
  package static let maximumBytes = 16 * 1024

  /// A signature line below the text.
  package struct Signature: Sendable, Hashable {
    /// The name of the key.
    package let name: String
    /// The first four bytes of a hash over name and key, as a big-endian number. Distinguishes keys with the same name.
    package let keyID: UInt32
    package let bytes: [UInt8]

    package init(name: String, keyID: UInt32, bytes: [UInt8]) {
      self.name = name
      self.keyID = keyID
      self.bytes = bytes
    }
  }

  /// The text that is signed: UTF-8, including its last newline.
  package let text: [UInt8]
  /// One or more signatures.
  package let signatures: [Signature]

  /// The start of each signature line: an em dash and a space.
  private static let signaturePrefix = "\u{2014} "
  private static let newline = UInt8(ascii: "\n")

  init(text: [UInt8], signatures: [Signature]) {
    self.text = text
    self.signatures = signatures
  }

  /// Parses a note. It does not check the signatures; `verify` does.
  package init(parsing bytes: [UInt8]) throws(CheckpointFlaw) {
    guard bytes.count <= Self.maximumBytes else {
      throw CheckpointFlaw(.malformed, "the note has \(bytes.count) bytes, more than \(Self.maximumBytes)")
    }
    guard bytes.allSatisfy({ $0 >= 0x20 || $0 == Self.newline }), String(validating: bytes, as: UTF8.self) != nil else {
      throw CheckpointFlaw(.malformed, "the note is not UTF-8, or has control characters")
    }
    guard let blank = Self.lastEmptyLine(in: bytes) else {
      throw CheckpointFlaw(.malformed, "the note has no empty line between its text and its signatures")
    }
    var lines = NoteLines(Array(bytes[(blank + 1)...]))
    var signatures: [Signature] = []
    while let line = lines.next() { signatures.append(try Self.signature(line)) }
    guard lines.isAtEnd, !signatures.isEmpty else {
      throw CheckpointFlaw(.malformed, "the note has no signature, or does not end with a newline")
    }
    self.init(text: Array(bytes[..<blank]), signatures: signatures)
  }

  /// The note as it is stored and sent. Encoding a parsed note gives the same bytes.
  package func encoded() -> [UInt8] {
    var bytes = text + [Self.newline]
    for signature in signatures {
      let id = withUnsafeBytes(of: signature.keyID.bigEndian) { [UInt8]($0) }
      bytes += Array("\(Self.signaturePrefix)\(signature.name) ".utf8)
      bytes += Array(StrictBase64.encode(id + signature.bytes).utf8) + [Self.newline]
    }
    return bytes
  }

  /// Checks that a key signed the text. Signatures by other keys are ignored; every signature by this key must be
  /// valid.
  package func verify(by key: VerifierKey) throws(CheckpointFlaw) {
    let own = signatures.filter { $0.keyID == key.id && $0.name.utf8.elementsEqual(key.name.utf8) }
    guard !own.isEmpty else {
      throw CheckpointFlaw(.unsigned, "none of the \(signatures.count) signatures is from the key \(key.label)")
    }
    for signature in own where !key.isValid(signature.bytes, for: text) {
      throw CheckpointFlaw(.forged, "a signature of the key \(key.label) is invalid: the text was altered")
    }
  }

  /// Whether this is a valid name of a key: not empty, without spaces, control characters and plus signs.
  static func isKeyName(_ name: String) -> Bool {
    !name.isEmpty
      && name.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0 != "+" && !$0.properties.isWhitespace }
  }

  /// The offset of the newline that forms the last empty line.
  private static func lastEmptyLine(in bytes: [UInt8]) -> Int? {
    var index = bytes.count - 1
    while index > 0 {
      if bytes[index] == newline, bytes[index - 1] == newline { return index }
      index -= 1
    }
    return nil
  }

  private static func signature(_ line: String) throws(CheckpointFlaw) -> Signature {
    let prefix = Array(signaturePrefix.utf8)
    let parts = line.utf8.dropFirst(prefix.count).split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
      .map { String(decoding: $0, as: UTF8.self) }
    guard line.utf8.starts(with: prefix), parts.count == 2, isKeyName(parts[0]),
      let bytes = StrictBase64.decode(parts[1]), bytes.count > 4,
      let keyID = bytes.span.bytes.integer(at: 0, as: UInt32.self)
    else {
      throw CheckpointFlaw(.malformed, "a signature line is not an em dash, a name and Base64 of more than four bytes")
    }
    return Signature(name: parts[0], keyID: keyID.byteSwapped, bytes: Array(bytes[4...]))
  }
}
