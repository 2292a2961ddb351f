package import ChatDomain
package import ChatPrimitives
import EventLog
import Foundation
import SwiftProtobuf

/// Converts scheduled messages to and from payloads.
extension EventCodec {
  static func decodeScheduled(
    _ body: Hansard_V1_MessageScheduled, _ reader: PayloadReader
  ) throws(CodecError) -> ScheduledMessage {
    guard let author = try reader.id(body.authorID) as UserID? else { throw reader.failure(.missingField, "author_id") }
    return ScheduledMessage(
      author: author, content: try decodeContent(body.text, body.hasDetails ? body.details : nil, reader),
      thread: try reader.id(body.threadID), sendAt: Timestamp(milliseconds: body.sendAtMs))
  }

  static func decodeSchedulingEdit(
    _ body: Hansard_V1_ScheduledMessageChanged, _ reader: PayloadReader
  ) throws(CodecError) -> ScheduledMessageEdit {
    ScheduledMessageEdit(
      text: body.hasText ? body.text : nil,
      mentions: body.hasMentions ? try decodeMentions(body.mentions, reader) : nil,
      sendAt: body.hasSendAtMs ? Timestamp(milliseconds: body.sendAtMs) : nil,
      customBody: body.hasCustomBody ? body.customBody : nil)
  }
}

extension Hansard_V1_MessageScheduled {
  static func with(_ message: ScheduledMessage) -> Self {
    .with {
      $0.text = message.content.text
      if let details = message.content.details { $0.details = .with(details) }
      $0.sendAtMs = message.sendAt.milliseconds
      if let thread = message.thread { $0.threadID = Data(thread.uuid.bytes) }
      $0.authorID = Data(message.author.uuid.bytes)
    }
  }
}

extension Hansard_V1_ScheduledMessageChanged {
  static func with(_ edit: ScheduledMessageEdit) -> Self {
    .with {
      if let text = edit.text { $0.text = text }
      if let mentions = edit.mentions { $0.mentions = .with(mentions) }
      if let sendAt = edit.sendAt { $0.sendAtMs = sendAt.milliseconds }
      if let customBody = edit.customBody { $0.customBody = customBody }
    }
  }
}

// MARK: - For read models

/// Converts a scheduled message to and from bytes, for a read model that must return it unchanged.
package enum ScheduledMessageBytes {
  package static func encode(_ message: ScheduledMessage) throws -> [UInt8] {
    try Hansard_V1_MessageScheduled.with(message).serializedBytes()
  }

  /// - Throws: `CodecError` if the bytes are not a result of `encode`.
  package static func decode(_ bytes: [UInt8]) throws(CodecError) -> ScheduledMessage {
    let envelope = RecordEnvelope(
      kind: RoomEvent.Scheduling.scheduledKind.number, payloadVersion: EventCodec.payloadVersion,
      streamKind: StreamKind.room.rawValue, stream: .zero, streamVersion: .none, time: Timestamp(milliseconds: 0))
    let reader = try PayloadReader(LogRecord(position: .origin, envelope: envelope, payload: .retained(bytes)))
    guard let body = try reader.message(Hansard_V1_MessageScheduled.self) else {
      throw reader.failure(.malformedPayload, "no scheduled message")
    }
    return try EventCodec.decodeScheduled(body, reader)
  }
}
