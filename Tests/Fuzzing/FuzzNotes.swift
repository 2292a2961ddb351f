import ChatPrimitives
import Crypto

@testable import EventLog

/// Tries each input with every parser of a text format: notes, checkpoints, keys and proofs.
func fuzzNotes(_ input: [UInt8]) {
  let note = try? SignedNote(parsing: input)
  if let note {
    demand(note.encoded() == input, "a note that parses encodes to the same bytes")
    parseCheckpoint(note.text)
    demand(!isTrusted(note), "a note of the fuzzer's is not signed by the key that it does not know")
  }
  parseCheckpoint(input)
  if let text = String(validating: input, as: UTF8.self) { parseKeys(text) }
  if let proof = try? InclusionProof(parsing: input) { use(proof) }
  if let proof = try? ConsistencyProof(parsing: input) {
    demand(proof.encoded() == input, "a consistency proof that parses encodes to the same bytes")
    if let key = NoteKey.key { _ = try? proof.verify(since: proof.checkpoint, by: key.verifier) }
  }
  // The JSON that a proof holds in Base64, here without Base64.
  if let record = try? ProvenRecord(json: input) { use(record) }
}

/// The key of these tests. No log has a key with this seed.
enum NoteKey {
  static let identity = LogIdentity(bytes: UUIDBytes(high: 0x0011_2233_4455_6677, low: 0x8899_aabb_ccdd_eeff))
  static let key = try? CheckpointKey(
    identity: identity, seed: [UInt8](repeating: 0xa5, count: CheckpointKey.seedBytes))
}

/// Whether a note is signed by a key that signed no note of the seed corpus.
private func isTrusted(_ note: SignedNote) -> Bool {
  let seed = [UInt8](repeating: 0x3c, count: CheckpointKey.seedBytes)
  guard let key = try? CheckpointKey(identity: NoteKey.identity, seed: seed) else { return false }
  return (try? Checkpoint(verifying: note, by: key.verifier)) != nil
}

private func parseCheckpoint(_ text: [UInt8]) {
  guard let checkpoint = try? Checkpoint(parsing: text) else { return }
  demand(Array(checkpoint.text.utf8) == text, "a checkpoint that parses encodes to the same bytes")
  guard let key = NoteKey.key, let note = try? key.sign(size: checkpoint.size, root: checkpoint.root) else { return }
  guard let signed = try? Checkpoint(verifying: note, by: key.verifier) else {
    fatalError("a note is refused by the key that signed it")
  }
  demand(signed.size == checkpoint.size && signed.root == checkpoint.root, "what is signed is what was to be signed")
  let reread = try? SignedNote(parsing: note.encoded())
  demand(reread == note, "a note survives its bytes")
}

private func parseKeys(_ text: String) {
  let line = VerifierKey.line(text)
  if let key = try? VerifierKey(parsing: text) {
    demand(key.text.utf8.elementsEqual(line.utf8), "a verifier key that parses encodes to the same text")
  }
  if let key = try? CheckpointKey(parsing: text) {
    demand(key.text.utf8.elementsEqual(line.utf8), "a signing key that parses encodes to the same text")
    demand((try? VerifierKey(parsing: key.verifier.text)) == key.verifier, "the public half of a key parses")
  }
  // A mutation cannot guess an ID, so the name and the bytes are tried again with the correct ID.
  guard let (name, bytes) = try? VerifierKey.fields(of: text, prefix: ""),
    let secret = try? Curve25519.Signing.PrivateKey(rawRepresentation: bytes)
  else { return }
  let verifier = VerifierKey(name: name, key: secret.publicKey)
  demand((try? VerifierKey(parsing: verifier.text)) == verifier, "a verifier key survives its text")
  let seed = StrictBase64.encode([VerifierKey.ed25519] + bytes)
  let signer = try? CheckpointKey(parsing: "PRIVATE+KEY+\(verifier.label)+\(seed)")
  demand(signer?.verifier == verifier, "a signing key with its right ID parses")
}

private func use(_ proof: InclusionProof) {
  // The JSON in the proof can have many spellings, but its encoding has only one.
  let bytes = proof.encoded()
  demand((try? InclusionProof(parsing: bytes)) == proof, "an inclusion proof survives its bytes")
  use(proof.record)
  if let key = NoteKey.key { _ = try? proof.verify(by: key.verifier) }
}

private func use(_ record: ProvenRecord) {
  demand((try? ProvenRecord(json: Array(record.json.utf8))) == record, "what a leaf is made of survives its JSON")
  _ = record.leaf
}
