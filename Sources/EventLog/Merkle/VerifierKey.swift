import ChatPrimitives
import Crypto
import FoundationEssentials

/// The public key of a pair that signs notes, with its name: C2SP, `signed-note`, Ed25519.
package struct VerifierKey: Sendable {
  /// The byte that stands for Ed25519 in keys and key IDs.
  static let ed25519: UInt8 = 1
  /// The maximum size of a key's text, in bytes. A longer one is rejected.
  package static let maximumTextBytes = 1024

  package let name: String
  /// The first four bytes of SHA-256(name, newline, type, key), as a big-endian number.
  package let id: UInt32
  private let key: Curve25519.Signing.PublicKey

  init(name: String, key: Curve25519.Signing.PublicKey) {
    self.name = name
    self.key = key
    let content = Array(name.utf8) + [UInt8(ascii: "\n"), Self.ed25519] + Array(key.rawRepresentation)
    let hash = content.withUnsafeBytes { MerkleTree.hash($0) }
    id = hash.bytes.prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
  }

  /// Parses `<name>+<key ID in hex>+<Base64 of type and key>`, with or without a newline at the end.
  package init(parsing text: String) throws(CheckpointFlaw) {
    let (name, bytes) = try Self.fields(of: text, prefix: "")
    guard let key = try? Curve25519.Signing.PublicKey(rawRepresentation: bytes) else {
      throw CheckpointFlaw(.malformed, "the verifier key is not an Ed25519 key")
    }
    self.init(name: name, key: key)
    guard Self.line(text).utf8.elementsEqual(self.text.utf8) else {
      throw CheckpointFlaw(.malformed, "the verifier key's ID does not match its name and key")
    }
  }

  /// The key in one line, without a newline.
  package var text: String {
    "\(label)+\(StrictBase64.encode([Self.ed25519] + Array(key.rawRepresentation)))"
  }

  /// The name and ID with which a signature identifies its key.
  package var label: String {
    let bytes = withUnsafeBytes(of: id.bigEndian) { [UInt8]($0) }
    return "\(name)+\(Hexadecimal.text(bytes))"
  }

  func isValid(_ signature: [UInt8], for text: [UInt8]) -> Bool {
    key.isValidSignature(signature, for: text)
  }

  // MARK: The format that both halves share

  /// The name and the 32 key bytes in a key's text. The caller must compare the ID.
  static func fields(of text: String, prefix: String) throws(CheckpointFlaw) -> (name: String, bytes: [UInt8]) {
    let line = line(text)
    guard text.utf8.count <= maximumTextBytes, line.utf8.starts(with: prefix.utf8) else {
      throw CheckpointFlaw(.malformed, "the key is too long, or does not begin with \"\(prefix)\"")
    }
    // Base64 itself contains plus signs.
    let parts = line.utf8.dropFirst(prefix.utf8.count)
      .split(separator: UInt8(ascii: "+"), maxSplits: 2, omittingEmptySubsequences: false)
      .map { String(decoding: $0, as: UTF8.self) }
    guard parts.count == 3, SignedNote.isKeyName(parts[0]), let bytes = StrictBase64.decode(parts[2]),
      bytes.count == 33, bytes[0] == ed25519
    else { throw CheckpointFlaw(.malformed, "the key is not a name, an ID and an Ed25519 key, joined by plus signs") }
    return (parts[0], Array(bytes[1...]))
  }

  /// The text without a trailing newline.
  static func line(_ text: String) -> String {
    guard text.utf8.last == UInt8(ascii: "\n") else { return text }
    return String(decoding: text.utf8.dropLast(), as: UTF8.self)
  }
}

extension VerifierKey: Hashable {
  package static func == (left: VerifierKey, right: VerifierKey) -> Bool {
    left.text.utf8.elementsEqual(right.text.utf8)
  }

  package func hash(into hasher: inout Hasher) { hasher.combine(id) }
}
