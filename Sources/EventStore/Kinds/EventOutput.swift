import ChatPrimitives
import SwiftProtobuf

/// The output of one event: its payload for the log, or the fields that the tools show. Only the requested one is made.
struct EventOutput {
  enum Purpose {
    case payload
    case fields
  }

  let purpose: Purpose
  /// The number of the event's kind; nil for an erased event, which has none.
  var kind: UInt16?
  private(set) var subject: UUIDBytes?
  /// Nil if there is nothing to write, because the event or its payload was erased.
  private(set) var payload: [UInt8]?
  private(set) var failure: (any Error)?
  private(set) var fields: [(String, JSONValue)] = EventOutput.erased

  /// The fields that are shown for an erased payload.
  static let erased: [(String, JSONValue)] = [("erased", .bool(true))]

  init(for purpose: Purpose) {
    self.purpose = purpose
  }

  /// - Parameters:
  ///   - subject: the object of the event, for the envelope.
  ///   - body: the payload; nil if it was erased.
  ///   - shows: the fields for the tools. They must never contain a credential, a key, a token or the hash of one, or
  ///     an e-mail address.
  mutating func write(
    subject: UUIDBytes? = nil, _ body: @autoclosure () -> (some SwiftProtobuf.Message)?,
    shows: @autoclosure () -> [(String, JSONValue)]
  ) {
    switch purpose {
    case .payload:
      self.subject = subject
      do {
        payload = try body()?.serializedBytes()
      } catch {
        failure = error
      }
    case .fields:
      fields = shows()
    }
  }

  /// Writes a message that has only text.
  mutating func write(subject: UUIDBytes, text: String, shows: @autoclosure () -> [(String, JSONValue)]) {
    switch purpose {
    case .payload:
      self.subject = subject
      payload = PlainTextPayload.encoded(text)
    case .fields:
      fields = shows()
    }
  }

  /// Writes an event without a payload.
  mutating func write(subject: UUIDBytes? = nil) {
    self.subject = subject
    payload = []
    fields = []
  }
}
