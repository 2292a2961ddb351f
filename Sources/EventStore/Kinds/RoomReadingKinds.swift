import ChatDomain
import ChatPrimitives
import SwiftProtobuf

extension RoomEvent.Reading: KindFamily {
  static let kinds = [markerMovedKind, markedUnreadKind]

  var kind: Kind<Self> {
    switch self {
    case .markerMoved: Self.markerMovedKind
    case .markedUnread: Self.markedUnreadKind
    }
  }

  private static let markerMovedKind = Kind<Self>(
    140, "read-marker.moved", .disclosed,
    write: { event, output in
      guard case .markerMoved(_, let message, let ordinal) = event else { return }
      output.write(
        subject: message.uuid, Hansard_V1_ReadMarkerMoved.with { $0.ordinal = ordinal },
        shows: [("ordinal", .number(ordinal))])
    },
    read: { (body: Hansard_V1_ReadMarkerMoved, reader) in
      .markerMoved(try reader.actor(), to: try reader.subject(MessageID.self), ordinal: body.ordinal)
    })

  private static let markedUnreadKind = Kind<Self>(
    141, "read-marker.marked-unread", .disclosed,
    write: { event, output in
      guard case .markedUnread(_, let message, let ordinal) = event else { return }
      output.write(
        subject: message.uuid, Hansard_V1_MarkedUnread.with { $0.ordinal = ordinal },
        shows: [("ordinal", .number(ordinal))])
    },
    read: { (body: Hansard_V1_MarkedUnread, reader) in
      .markedUnread(try reader.actor(), from: try reader.subject(MessageID.self), ordinal: body.ordinal)
    })
}
