import ChatPrimitives
import Testing

@testable import EventLog

/// A key and what it signs, the same in every run.
enum SignedSample {
  static let identity = LogIdentity(bytes: UUIDBytes(high: 0x0011_2233_4455_6677, low: 0x8899_aabb_ccdd_eeff))
  static let seed = [UInt8](0..<32)

  static func key(_ seed: [UInt8] = seed) throws -> CheckpointKey { try CheckpointKey(identity: identity, seed: seed) }

  static func note(leaves: [MerkleHash]) throws -> SignedNote {
    try key().sign(size: UInt64(leaves.count), root: MerkleModel.root(leaves))
  }

  /// Calls `body` with texts that differ from `bytes` in a single byte, with several values for each byte.
  static func alterations(of bytes: [UInt8], _ body: ([UInt8], Int) -> Void) {
    for place in bytes.indices {
      for value in [bytes[place] ^ 1, bytes[place] ^ 0x20, bytes[place] &+ 1, bytes[place] ^ 0x80, 0x0a, 0x20, 0x41]
      where value != bytes[place] {
        var changed = bytes
        changed[place] = value
        body(changed, place)
      }
    }
  }
}

@Suite("Signed tree heads")
struct MerkleNoteTests {
  /// Made by a program in Python, with the Ed25519 of another library.
  private static let golden = """
    hansard/00112233-4455-6677-8899-aabbccddeeff
    8
    XcnaeacGWamtVZy3Ad7ZoqudgjqtL0lgz+Nw7/RgQyg=

    \u{2014} hansard/00112233-4455-6677-8899-aabbccddeeff \
    nt8teoykvqYgcjS0uLv9uXQR6cRQO45HLuzZUaCDaTZUk3GudFwPnqTdSAXDp9bFW4VHIEzVsfvtZCT1eHsd2zpC+ws=

    """
  private static let privateText =
    "PRIVATE+KEY+hansard/00112233-4455-6677-8899-aabbccddeeff+9edf2d7a+AQABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f"
  private static let publicText =
    "hansard/00112233-4455-6677-8899-aabbccddeeff+9edf2d7a+AQOhB7/zzhC+HXDdGOdLwJln5NYwm6UNXx3chmQSVTG4"

  private func golden() throws -> SignedNote {
    let leaves = MerkleTreeTests.entries.map { MerkleTree.leaf(content: $0) }
    return try SignedSample.note(leaves: leaves)
  }

  @Test("a fixed seed gives fixed keys and a fixed note, those of another implementation")
  func goldenNote() throws {
    let key = try SignedSample.key()
    #expect(key.text == Self.privateText && key.verifier.text == Self.publicText)
    #expect(!"\(key)".contains("AQABAgME"))
    #expect(try golden().encoded() == Array(Self.golden.utf8))
  }

  @Test("a note reads back byte for byte and says what was signed")
  func roundTrip() throws {
    let note = try SignedNote(parsing: Array(Self.golden.utf8))
    #expect(try note == golden() && note.encoded() == Array(Self.golden.utf8))
    let head = try Checkpoint(verifying: note, by: try VerifierKey(parsing: Self.publicText + "\n"))
    #expect(head.origin == CheckpointKey.origin(of: SignedSample.identity) && head.size == 8)
    #expect(head.root.hex == MerkleTreeTests.roots[8] && head.extensions.isEmpty)
    let empty = try SignedSample.note(leaves: [])
    #expect(String(decoding: empty.text, as: UTF8.self).contains("\n0\n47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n"))
  }

  @Test("every change of a byte is refused")
  func alterations() throws {
    let key = try SignedSample.key().verifier
    SignedSample.alterations(of: Array(Self.golden.utf8)) { bytes, place in
      let flaw = checkpointFlaw { _ = try Checkpoint(verifying: SignedNote(parsing: bytes), by: key) }
      if flaw == nil { Issue.record("the change at \(place) was not noticed") }
    }
    let bytes = Array(Self.golden.utf8)
    for count in bytes.indices {
      #expect(checkpointFlaw { _ = try SignedNote(parsing: Array(bytes[..<count])) }?.kind == .malformed)
    }
  }

  @Test("signatures of other names and keys are passed over, one of the key that does not hold is refused")
  func otherSignatures() throws {
    let note = try golden()
    let own = note.signatures[0]
    let other = SignedNote.Signature(name: own.name, keyID: own.keyID ^ 1, bytes: [1])
    let witness = SignedNote.Signature(name: "witness.example/w1", keyID: own.keyID, bytes: own.bytes)
    let forged = SignedNote.Signature(name: own.name, keyID: own.keyID, bytes: own.bytes.reversed())
    let key = try SignedSample.key().verifier
    func verify(_ signatures: [SignedNote.Signature]) throws {
      let bytes = SignedNote(text: note.text, signatures: signatures).encoded()
      try SignedNote(parsing: bytes).verify(by: key)
    }
    #expect(throws: Never.self) { try verify([other, own, witness]) }
    #expect(throws: Never.self) { try verify(Array(repeating: witness, count: 15) + [own]) }
    #expect(checkpointFlaw { try verify([other, witness]) }?.kind == .unsigned)
    #expect(checkpointFlaw { try verify([own, forged]) }?.kind == .forged)
    #expect(checkpointFlaw { try verify([forged, own]) }?.kind == .forged)
    let stranger = try SignedSample.key([UInt8](1...32)).verifier
    #expect(checkpointFlaw { try note.verify(by: stranger) }?.kind == .unsigned)
  }

  @Test("signed extension lines are kept; a checkpoint of another form or of another log is refused")
  func checkpointForms() throws {
    let lines = "hansard/x\n7\n\(MerkleTree.emptyRoot.base64)\n"
    let extended = try Checkpoint(parsing: Array((lines + "one\n\u{2014} two\n").utf8))
    #expect(extended.extensions == ["one", "\u{2014} two"] && extended.text == lines + "one\n\u{2014} two\n")
    let root = MerkleTree.emptyRoot.base64
    let wrong = [
      "", "x\n", "\n7\n\(root)\n", "x\n07\n\(root)\n", "x\n+7\n\(root)\n", "x\n-7\n\(root)\n", "x\n\n\(root)\n",
      "x\n7\n\n", "x\n7\n\(root)", "x\n7\n\(root.dropFirst(4))\n", lines + "\n", lines + "open",
      "x\n\(LogFormat.maximumPosition.value + 1)\n\(root)\n", "x\n18446744073709551616\n\(root)\n",
    ]
    for text in wrong { #expect(checkpointFlaw { _ = try Checkpoint(parsing: Array(text.utf8)) }?.kind == .malformed) }
    let largest = "x\n\(LogFormat.maximumPosition.value)\n\(root)\n"
    #expect(throws: Never.self) { try Checkpoint(parsing: Array(largest.utf8)) }
    let other = try CheckpointKey(identity: LogIdentity(bytes: .zero), seed: SignedSample.seed)
    let note = try other.sign(size: 7, root: MerkleTree.emptyRoot)
    #expect(throws: Never.self) { try Checkpoint(verifying: note, by: other.verifier) }
    #expect(checkpointFlaw { _ = try Checkpoint(verifying: note, by: SignedSample.key().verifier) }?.kind == .unsigned)
  }

  @Test("a note may have an empty line in its text, no control characters, and 16 KiB")
  func noteForms() throws {
    func parse(_ text: String) throws -> SignedNote { try SignedNote(parsing: Array(text.utf8)) }
    let line = "\u{2014} name AAAAAAE=\n"
    #expect(try parse("a\n\nb\n\n\(line)").text == Array("a\n\nb\n".utf8))
    let wrong = [
      "", "\n", "\n\n", "a\n\n", "a\n\(line)", "a\n\n\(line)x", "a\n\n\(line)\n", "a\t\n\n\(line)", "a\r\n\n\(line)",
      "a\n\n\u{2014} name AAAAAA==\n", "a\n\n\u{2014} na+me AAAAAAE=\n", "a\n\n\u{2014}  AAAAAAE=\n",
      "a\n\n\u{2014} na\u{a0}me AAAAAAE=\n", "a\n\n- name AAAAAAE=\n", "a\n\n\u{2014} name AAAAAAE= \n",
      "a\n\n\u{2014} name AAAAAAF=\n", "a\n\n\u{2014}name AAAAAAE=\n",
    ]
    for text in wrong { #expect(checkpointFlaw { _ = try parse(text) }?.kind == .malformed, "\(text)") }
    #expect(checkpointFlaw { _ = try SignedNote(parsing: [0xff] + Array("\n\n\(line)".utf8)) }?.kind == .malformed)
    let room = SignedNote.maximumBytes - line.utf8.count - 2
    #expect(throws: Never.self) { try parse(String(repeating: "a", count: room) + "\n\n\(line)") }
    #expect(throws: Never.self) { try parse(String(repeating: "a", count: room - 1) + "\n\n\(line)") }
    #expect(
      checkpointFlaw { _ = try parse(String(repeating: "a", count: room + 1) + "\n\n\(line)") }?.kind == .malformed)
  }

  @Test("a key's text reads back; every change of a byte is refused")
  func keyTexts() throws {
    #expect(try CheckpointKey(parsing: Self.privateText + "\n").text == Self.privateText)
    #expect(try VerifierKey(parsing: Self.publicText) == SignedSample.key().verifier)
    SignedSample.alterations(of: Array(Self.publicText.utf8)) { bytes, place in
      guard let text = String(validating: bytes, as: UTF8.self) else { return }
      // With a newline in place of the last character, the Base64 lacks its end.
      if checkpointFlaw({ _ = try VerifierKey(parsing: text) }) == nil { Issue.record("change at \(place)") }
    }
    SignedSample.alterations(of: Array(Self.privateText.utf8)) { bytes, place in
      guard let text = String(validating: bytes, as: UTF8.self) else { return }
      if checkpointFlaw({ _ = try CheckpointKey(parsing: text) }) == nil { Issue.record("change at \(place)") }
    }
    #expect(checkpointFlaw { _ = try VerifierKey(parsing: Self.publicText + "\n\n") }?.kind == .malformed)
    #expect(checkpointFlaw { _ = try SignedSample.key([1, 2, 3]) }?.kind == .malformed)
  }
}
