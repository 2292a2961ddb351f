import ChatDomain
import ChatPrimitives
import SwiftProtobuf

extension RoomEvent.Scheduling: KindFamily {
  static let kinds = [scheduledKind, changedKind, cancelledKind, failedKind]

  var kind: Kind<Self> {
    switch self {
    case .scheduled: Self.scheduledKind
    case .changed: Self.changedKind
    case .cancelled: Self.cancelledKind
    case .failed: Self.failedKind
    }
  }

  /// The ID of an erased message stays taken.
  static let scheduledKind = Kind<Self>(
    160, "message.scheduled", .disclosed,
    write: { event, output in
      guard case .scheduled(let id, let message) = event else { return }
      output.write(
        subject: id.uuid, message.map { Hansard_V1_MessageScheduled.with($0) },
        shows: message.map { message in
          [("sendAt", .text(message.sendAt.rfc3339)), ("author", .text(message.author.description))]
            + .content(message.content)
        } ?? EventOutput.erased)
    },
    readErasable: { (body: Hansard_V1_MessageScheduled?, reader) in
      .scheduled(
        try reader.subject(MessageID.self), try body.map { try EventCodec.decodeScheduled($0, reader) })
    })

  private static let changedKind = Kind<Self>(
    161, "scheduled-message.changed", .disclosed,
    write: { event, output in
      guard case .changed(let id, let edit) = event else { return }
      output.write(subject: id.uuid, Hansard_V1_ScheduledMessageChanged.with(edit), shows: edit.shownFields)
    },
    read: { (body: Hansard_V1_ScheduledMessageChanged, reader) in
      .changed(try reader.subject(MessageID.self), try EventCodec.decodeSchedulingEdit(body, reader))
    })

  private static let cancelledKind = Kind<Self>(
    162, "scheduled-message.cancelled",
    write: { event, output in
      guard case .cancelled(let id) = event else { return }
      output.write(subject: id.uuid)
    },
    readEnvelope: { .cancelled(try $0.subject(MessageID.self)) })

  private static let failedKind = Kind<Self>(
    163, "scheduled-message.failed", .disclosed,
    write: { event, output in
      guard case .failed(let id, let reason) = event else { return }
      output.write(
        subject: id.uuid, Hansard_V1_ScheduledMessageFailed.with { $0.reason = UInt32(reason.rawValue) },
        shows: [("reason", .text(reason.name))])
    },
    read: { (body: Hansard_V1_ScheduledMessageFailed, reader) in
      .failed(try reader.subject(MessageID.self), try reader.value(body.reason, SchedulingFailure.self))
    })
}

extension ScheduledMessageEdit {
  /// The fields that the edit changes.
  fileprivate var shownFields: ShownFields {
    var fields: ShownFields = []
    if let sendAt { fields.append(("sendAt", .text(sendAt.rfc3339))) }
    if let text { fields.append(("text", .text(text))) }
    if let mentions { fields += .mentions(mentions) }
    if let customBody { fields.append(("customBody", .text(customBody))) }
    return fields
  }
}
