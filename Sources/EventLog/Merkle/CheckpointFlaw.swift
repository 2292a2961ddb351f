/// Why a checkpoint, a proof or a key is rejected.
package struct CheckpointFlaw: Error, Sendable, Hashable {
  package enum Kind: Sendable, Hashable {
    /// The text does not have the format of `docs/log-format.md`, or exceeds a limit.
    case malformed
    /// There is no signature by the key.
    case unsigned
    /// A signature names the key but does not verify.
    case forged
    /// The signature is valid, but belongs to another log, another tree or another record.
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
