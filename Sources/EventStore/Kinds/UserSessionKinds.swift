import ChatDomain
import ChatPrimitives
import Foundation
import SwiftProtobuf

extension UserEvent.Sessions: KindFamily {
  static let kinds = [startedKind, refreshedKind, endedKind]

  var kind: Kind<Self> {
    switch self {
    case .started: Self.startedKind
    case .refreshed: Self.refreshedKind
    case .ended: Self.endedKind
    }
  }

  static let startedKind = Kind<Self>(
    10, "session.started", .disclosed,
    write: { event, output in
      guard case .started(let session, let device) = event else { return }
      output.write(
        subject: session.uuid,
        Hansard_V1_SessionStarted.with { if let device { $0.deviceID = Data(device.uuid.bytes) } },
        shows: [("device", .text(orNull: device?.description))])
    },
    read: { (body: Hansard_V1_SessionStarted, reader) in
      .started(try reader.subject(SessionID.self), device: try reader.id(body.deviceID))
    })

  private static let refreshedKind = Kind<Self>(
    11, "session.refreshed", .disclosed,
    write: { event, output in
      guard case .refreshed(let session, let generation) = event else { return }
      output.write(
        subject: session.uuid, Hansard_V1_SessionRefreshed.with { $0.generation = generation },
        shows: [("generation", .number(UInt64(generation)))])
    },
    read: { (body: Hansard_V1_SessionRefreshed, reader) in
      .refreshed(try reader.subject(SessionID.self), generation: body.generation)
    })

  private static let endedKind = Kind<Self>(
    12, "session.ended", .disclosed,
    write: { event, output in
      guard case .ended(let session, let reason) = event else { return }
      output.write(
        subject: session.uuid, Hansard_V1_SessionEnded.with { $0.reason = UInt32(reason.rawValue) },
        shows: [("reason", .text(reason.name))])
    },
    read: { (body: Hansard_V1_SessionEnded, reader) in
      .ended(try reader.subject(SessionID.self), try reader.value(body.reason, SessionEnd.self))
    })
}
