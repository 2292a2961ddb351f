import ChatPrimitives
import FoundationEssentials

/// The content of a leaf as a proof shows it. It never contains a key or erased data.
package struct ProvenRecord: Sendable, Hashable {
  /// A payload and the salt that hides it in the digest.
  package struct Opening: Sendable, Hashable {
    /// Sixteen bytes; nil if the record has no salt.
    package let salt: RecordSalt?
    package let payload: [UInt8]
  }

  /// The record's envelope, whose only valid encoding goes into the leaf.
  package let envelope: RecordEnvelope
  package let digest: MerkleHash
  /// Nil if the payload was erased or is not shown.
  package let opening: Opening?

  /// The part of a record that a proof shows. The payload of a registration holds the author's key and is never shown.
  /// - Parameter showsPayload: whether the payload may be shown.
  package init(_ record: LogRecord, author: AuthorKey, showsPayload: Bool) throws(FormatFlaw) {
    envelope = record.envelope
    digest = try record.digest(author: author)
    switch record.payload {
    case .retained(let payload), .retainedWithSalt(let payload, salt: _):
      opening =
        showsPayload && !record.isRegistration
        ? Opening(salt: try record.salt(author: author), payload: payload) : nil
    case .erased: opening = nil
    }
  }

  package var leaf: MerkleHash { MerkleTree.leaf(envelope: envelope, digest: digest) }

  /// Checks that the digest is that of the salt and the payload.
  func verifyOpening() throws(CheckpointFlaw) {
    guard let opening else { return }
    guard MerkleTree.digest(salt: opening.salt, payload: opening.payload) == digest else {
      throw CheckpointFlaw(.mismatch, "the salt and the payload do not give the digest")
    }
  }
}

// MARK: - JSON

extension ProvenRecord {
  private enum Field {
    static let envelope = "envelope"
    static let digest = "digest"
    static let salt = "salt"
    static let payload = "payload"
  }

  /// The object as JSON. Hexadecimal digits need no escapes.
  var json: String {
    var text =
      "{\"\(Field.envelope)\":\"\(Hexadecimal.text(envelope.encoded()))\",\"\(Field.digest)\":\"\(digest.hex)\""
    if let opening {
      text += ",\"\(Field.salt)\":\"\(Hexadecimal.text(opening.salt?.bytes ?? []))\""
      text += ",\"\(Field.payload)\":\"\(Hexadecimal.text(opening.payload))\""
    }
    return text + "}"
  }

  private struct Object: Decodable {
    let envelope: String
    let digest: String
    let salt: String?
    let payload: String?
  }

  /// Parses an object with these fields and ignores others. The caller has limited its length.
  init(json: [UInt8]) throws(CheckpointFlaw) {
    guard let object = try? JSONDecoder().decode(Object.self, from: Data(json)) else {
      throw CheckpointFlaw(.malformed, "the extra line is not a JSON object with envelope and digest")
    }
    guard (object.salt == nil) == (object.payload == nil) else {
      throw CheckpointFlaw(.malformed, "salt or payload is missing; both are needed")
    }
    guard let digest = MerkleHash(hex: object.digest),
      let envelope = Hexadecimal.bytes(object.envelope)
    else { throw CheckpointFlaw(.malformed, "the envelope or the digest is not in lower-case hexadecimal digits") }
    do {
      self.envelope = try RecordEnvelope(parsing: envelope.span.bytes)
    } catch {
      throw CheckpointFlaw(.malformed, error.reason)
    }
    self.digest = digest
    guard let saltText = object.salt, let payloadText = object.payload else {
      opening = nil
      return
    }
    let salt = Hexadecimal.bytes(saltText).flatMap { RecordSalt(bytes: $0) }
    guard salt != nil || saltText.isEmpty, let payload = Hexadecimal.bytes(payloadText),
      payload.count <= LogFormat.maximumPayloadBytes
    else { throw CheckpointFlaw(.malformed, "the salt or the payload is not in hexadecimal digits, or too long") }
    opening = Opening(salt: salt, payload: payload)
  }
}
