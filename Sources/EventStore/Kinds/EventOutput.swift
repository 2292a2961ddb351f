import ChatPrimitives
import SwiftProtobuf

/// What one event writes: its payload for the log, or the fields that the tools show. Only the one that is asked for is
/// made.
struct EventOutput {
  enum Purpose {
    case payload
    case fields
  }

  let purpose: Purpose
  /// The number of the event's kind; nil for an erased event, which has none.
  var kind: UInt16?
  private(set) var subject: UUIDBytes?
  /// Nil when there is nothing to write: the event, or its payload, was erased.
  private(set) var payload: [UInt8]?
  private(set) var failure: (any Error)?
  private(set) var fields: [(String, JSONValue)] = EventOutput.erased

  /// All that is left to say of a payload that is gone.
  static let erased: [(String, JSONValue)] = [("erased", .bool(true))]

  init(for purpose: Purpose) {
    self.purpose = purpose
  }

  /// - Parameters:
  ///   - subject: what the event is about, for the envelope.
  ///   - body: nil when it was erased.
  ///   - shows: never a credential, a key, a token or the hash of one, and never an e-mail address.
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

  /// Of an event without a payload.
  mutating func write(subject: UUIDBytes? = nil) {
    self.subject = subject
    payload = []
    fields = []
  }
}
