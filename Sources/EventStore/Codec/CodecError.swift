public import ChatPrimitives

/// A record that this version cannot read, or an event that cannot be written. It must never be skipped.
package struct CodecError: Error, Sendable, Hashable, CustomStringConvertible {
  package enum Code: String, Sendable {
    case unknownKind = "unknown_event_kind"
    case unknownVersion = "unknown_event_version"
    case malformedPayload = "malformed_event_payload"
    case missingField = "missing_envelope_field"
    case unwritable = "unwritable_event"
  }

  package let code: Code
  package let position: LogPosition
  package let kind: UInt16
  package let detail: String

  package init(_ code: Code, position: LogPosition, kind: UInt16, detail: String) {
    self.code = code
    self.position = position
    self.kind = kind
    self.detail = detail
  }

  package var description: String {
    "\(code.rawValue) at position \(position), kind \(kind): \(detail)"
  }
}
