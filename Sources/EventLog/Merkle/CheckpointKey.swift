import Crypto
import FoundationEssentials

/// The key that signs a log's tree heads; `docs/log-format.md`, "Tree heads". Secret.
package struct CheckpointKey: Sendable {
  /// Random bytes that a key is made of.
  package static let seedBytes = 32

  /// `hansard/` and the log's identity: the origin of its checkpoints.
  package let name: String
  private let key: Curve25519.Signing.PrivateKey

  private init(name: String, seed: [UInt8]) throws(CheckpointFlaw) {
    guard let key = try? Curve25519.Signing.PrivateKey(rawRepresentation: seed) else {
      throw CheckpointFlaw(.malformed, "a signing key has \(Self.seedBytes) bytes, not \(seed.count)")
    }
    self.name = name
    self.key = key
  }

  /// - Parameter seed: 32 random bytes.
  package init(identity: LogIdentity, seed: [UInt8]) throws(CheckpointFlaw) {
    try self.init(name: Self.origin(of: identity), seed: seed)
  }

  /// Reads `PRIVATE+KEY+<name>+<key ID in hex>+<Base64 of type and seed>`, with or without a newline at the end.
  package init(parsing text: String) throws(CheckpointFlaw) {
    let (name, seed) = try VerifierKey.fields(of: text, prefix: Self.textPrefix)
    try self.init(name: name, seed: seed)
    guard VerifierKey.line(text).utf8.elementsEqual(self.text.utf8) else {
      throw CheckpointFlaw(.malformed, "the signing key's ID does not match its name and key")
    }
  }

  /// One line, without its newline. Secret.
  package var text: String {
    let seed = Array(key.rawRepresentation)
    return "\(Self.textPrefix)\(verifier.label)+\(StrictBase64.encode([VerifierKey.ed25519] + seed))"
  }

  /// The public half.
  package var verifier: VerifierKey { VerifierKey(name: name, key: key.publicKey) }

  /// The first line of a log's checkpoints, and the name of its key.
  package static func origin(of identity: LogIdentity) -> String { "hansard/\(identity)" }

  /// Signs a tree head. The same head gives the same note: Ed25519 here takes no randomness.
  package func sign(size: UInt64, root: MerkleHash) throws(CheckpointFlaw) -> SignedNote {
    let text = Array(Checkpoint(origin: name, size: size, root: root).text.utf8)
    guard let signature = try? key.signature(for: text) else {
      throw CheckpointFlaw(.malformed, "the cryptographic library did not sign")
    }
    return SignedNote(text: text, signatures: [.init(name: name, keyID: verifier.id, bytes: Array(signature))])
  }

  private static let textPrefix = "PRIVATE+KEY+"
}

extension CheckpointKey: CustomStringConvertible {
  /// Names the key and keeps the secret.
  package var description: String { "signing key \(verifier.label)" }
}
