import ChatDomain
import ChatPrimitives
import SwiftProtobuf

extension RoomEvent.Threads: KindFamily {
  static let kinds = [markerMovedKind, followingSetKind]

  var kind: Kind<Self> {
    switch self {
    case .markerMoved: Self.markerMovedKind
    case .followingSet: Self.followingSetKind
    }
  }

  private static let markerMovedKind = Kind<Self>(
    142, "thread-marker.moved", .disclosed,
    write: { event, output in
      guard case .markerMoved(_, let message, let location) = event else { return }
      output.write(
        subject: message.uuid,
        Hansard_V1_ThreadMarkerMoved.with {
          $0.ordinal = location.ordinal
          $0.thread = location.thread
        }, shows: .location(location))
    },
    read: { (body: Hansard_V1_ThreadMarkerMoved, reader) in
      .markerMoved(
        try reader.actor(), to: try reader.subject(MessageID.self),
        at: MessageLocation(thread: body.thread, ordinal: body.ordinal))
    })

  private static let followingSetKind = Kind<Self>(
    143, "thread-following.set", .disclosed,
    write: { event, output in
      guard case .followingSet(_, let root, let follows) = event else { return }
      output.write(
        subject: root.message.uuid,
        Hansard_V1_ThreadFollowingSet.with {
          $0.ordinal = root.ordinal
          $0.follows = follows
        }, shows: [("follows", .bool(follows))])
    },
    read: { (body: Hansard_V1_ThreadFollowingSet, reader) in
      .followingSet(
        try reader.actor(), ThreadRoot(message: try reader.subject(MessageID.self), ordinal: body.ordinal),
        follows: body.follows)
    })
}
