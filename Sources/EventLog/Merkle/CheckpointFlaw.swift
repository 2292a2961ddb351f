/// Why a checkpoint, a proof or a key is not to be believed.
package struct CheckpointFlaw: Error, Sendable, Hashable {
  package enum Kind: Sendable, Hashable {
    /// The text does not have the form of `docs/log-format.md`, or is beyond a limit.
    case malformed
    /// No signature is by the key.
    case unsigned
    /// A signature names the key and does not verify.
    case forged
    /// It is signed, but speaks of another log, another tree or another record.
    case mismatch
  }

  package let kind: Kind
  package let reason: String

  package init(_ kind: Kind, _ reason: String) {
    self.kind = kind
    self.reason = reason
  }
}

extension CheckpointFlaw: CustomStringConvertible {
  package var description: String { reason }
}
