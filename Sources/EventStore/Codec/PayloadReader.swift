import ChatPrimitives
import EventLog
import Foundation
import SwiftProtobuf

/// Parses one record's payload, and reads the envelope fields that its kind needs.
struct PayloadReader {
  let record: LogRecord
  let kind: EventKind
  /// Nil if the payload was erased.
  let payload: [UInt8]?

  init(_ record: LogRecord) throws(CodecError) {
    self.record = record
    let number = record.envelope.kind
    guard let kind = EventKind(number: number) else {
      throw CodecError(
        .unknownKind, position: record.position, kind: number,
        detail: "written by a later version; run that version, or a newer one")
    }
    guard record.envelope.payloadVersion == EventCodec.payloadVersion else {
      throw CodecError(
        .unknownVersion, position: record.position, kind: number,
        detail: "payload version \(record.envelope.payloadVersion)")
    }
    self.kind = kind
    switch record.payload {
    case .retained(let bytes), .retainedWithSalt(let bytes, _): payload = bytes
    case .erased: payload = nil
    }
  }

  func failure(_ code: CodecError.Code, _ detail: String) -> CodecError {
    CodecError(code, position: record.position, kind: record.envelope.kind, detail: detail)
  }

  /// Parses the payload as `type`; nil if it was erased.
  func message<Body: SwiftProtobuf.Message>(_ type: Body.Type) throws(CodecError) -> Body? {
    guard let payload else { return nil }
    do {
      return try Body(serializedBytes: payload)
    } catch {
      throw failure(.malformedPayload, String(describing: error))
    }
  }

  func subject<Entity>(_ type: ID<Entity>.Type) throws(CodecError) -> ID<Entity> {
    guard let subject = record.envelope.subject else { throw failure(.missingField, "subject") }
    return ID(subject)
  }

  var actorIfAny: UserID? { record.envelope.actor.map(UserID.init) }

  func actor() throws(CodecError) -> UserID {
    guard let actor = actorIfAny else { throw failure(.missingField, "actor") }
    return actor
  }

  /// Parses a 16-byte field of a payload; nil if it is empty.
  func id<Entity>(_ bytes: [UInt8]) throws(CodecError) -> ID<Entity>? {
    if bytes.isEmpty { return nil }
    guard let uuid = UUIDBytes(bytes: bytes) else { throw failure(.malformedPayload, "an ID of \(bytes.count) bytes") }
    return ID(uuid)
  }

  /// Does the same for a `Data` field, where empty means "none".
  func id<Entity>(_ bytes: Data) throws(CodecError) -> ID<Entity>? { try id(Array(bytes)) }

  /// Parses a list of 16-byte fields.
  func ids<Entity>(_ list: [Data]) throws(CodecError) -> [ID<Entity>] {
    var ids: [ID<Entity>] = []
    for bytes in list {
      guard let id = try id(bytes) as ID<Entity>? else { throw failure(.malformedPayload, "an empty ID in a list") }
      ids.append(id)
    }
    return ids
  }

  /// Converts the raw value of an enumeration.
  func value<Value: RawRepresentable>(_ number: UInt32, _ type: Value.Type) throws(CodecError) -> Value
  where Value.RawValue == UInt8 {
    guard let raw = UInt8(exactly: number), let value = Value(rawValue: raw) else {
      throw failure(.malformedPayload, "\(type) has no value \(number)")
    }
    return value
  }

  func byte(_ number: UInt32) throws(CodecError) -> UInt8 {
    guard let byte = UInt8(exactly: number) else { throw failure(.malformedPayload, "\(number) is not a byte") }
    return byte
  }
}
