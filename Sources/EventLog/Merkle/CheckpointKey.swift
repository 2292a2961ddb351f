import Crypto
import FoundationEssentials

/// The secret key that signs a log's tree heads; `docs/log-format.md`, "Tree heads".
package struct CheckpointKey: Sendable {
  /// The number of random bytes that make a key.
  package static let seedBytes = 32

  /// The origin of the log's checkpoints: `hansard/` and the log's identity.
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

  /// Parses `PRIVATE+KEY+<name>+<key ID in hex>+<Base64 of type and seed>`, with or without a newline at the end.
  package init(parsing text: String) throws(CheckpointFlaw) {
    let (name, seed) = try VerifierKey.fields(of: text, prefix: Self.textPrefix)
    try self.init(name: name, seed: seed)
    guard VerifierKey.line(text).utf8.elementsEqual(self.text.utf8) else {
      throw CheckpointFlaw(.malformed, "the signing key's ID does not match its name and key")
    }
  }

  /// The key in one line, without a newline. Secret.
  package var text: String {
    let seed = Array(key.rawRepresentation)
    return "\(Self.textPrefix)\(verifier.label)+\(StrictBase64.encode([VerifierKey.ed25519] + seed))"
  }

  /// The public key.
  package var verifier: VerifierKey { VerifierKey(name: name, key: key.publicKey) }

  /// The first line of a log's checkpoints, which is also the name of its key.
  package static func origin(of identity: LogIdentity) -> String { "hansard/\(identity)" }

  /// Signs a tree head. Signing the same head again gives the same note, because Ed25519 is deterministic here.
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
  /// The key's label, without the secret.
  package var description: String { "signing key \(verifier.label)" }
}
