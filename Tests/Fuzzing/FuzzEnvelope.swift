import ChatPrimitives

@testable import EventLog

/// Tries an envelope: the input unchanged, then with consistent flags and length.
func fuzzEnvelope(_ input: [UInt8]) {
  parseEnvelope(input)
  var fixed = input.resized(to: RecordEnvelope.maximumBytes)
  let presence = fixed.number(at: 4, as: UInt16.self) & 0x3f
  fixed.write(presence, at: 4)
  fixed.write(UInt16(0), at: 6)
  let uuids = (presence & 0x1f).nonzeroBitCount
  fixed = fixed.resized(to: RecordEnvelope.fixedBytes + uuids * UUIDBytes.byteCount + (presence & 0x20 == 0 ? 0 : 8))
  let parsed = parseEnvelope(fixed)
  demand(parsed || fixed.number(at: 0, as: UInt16.self) == 0, "flags and length that agree parse, but for kind zero")
}

@discardableResult
private func parseEnvelope(_ bytes: [UInt8]) -> Bool {
  guard let envelope = try? RecordEnvelope(parsing: bytes.span.bytes) else { return false }
  demand(envelope.encoded() == bytes, "an envelope that parses encodes to the same bytes")
  demand(envelope.encodedBytes == bytes.count, "an envelope knows its length")
  return true
}
