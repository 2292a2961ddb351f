public import ChatDomain

/// The number and the name of each kind of fact. Numbers stand in the log and are forever; zero is reserved.
package enum EventKind: UInt16, Sendable, CaseIterable {
  case userRegistered = 1
  case profileChanged = 2
  case sessionStarted = 10
  case sessionRefreshed = 11
  case sessionEnded = 12
  case deviceRegistered = 20
  case deviceUpdated = 21
  case pushTokenInvalidated = 22
  case deviceRemoved = 23

  case roomCreated = 100
  case roomRenamed = 101
  case roomArchived = 102
  case inviteCreated = 110
  case inviteRevoked = 111
  case memberJoined = 120
  case memberAdded = 121
  case memberLeft = 122
  case memberRemoved = 123
  case admissionRepeated = 124
  case roomMuted = 125
  case messageSent = 130
  case messageEdited = 131
  case messageDeleted = 132
  case readMarkerMoved = 140

  case pushOutcomesRecorded = 200

  /// What the tools print and filter by.
  package var name: String {
    switch self {
    case .userRegistered: "user.registered"
    case .profileChanged: "profile.changed"
    case .sessionStarted: "session.started"
    case .sessionRefreshed: "session.refreshed"
    case .sessionEnded: "session.ended"
    case .deviceRegistered: "device.registered"
    case .deviceUpdated: "device.updated"
    case .pushTokenInvalidated: "push-token.invalidated"
    case .deviceRemoved: "device.removed"
    case .roomCreated: "room.created"
    case .roomRenamed: "room.renamed"
    case .roomArchived: "room.archived"
    case .inviteCreated: "invite.created"
    case .inviteRevoked: "invite.revoked"
    case .memberJoined: "member.joined"
    case .memberAdded: "member.added"
    case .memberLeft: "member.left"
    case .memberRemoved: "member.removed"
    case .admissionRepeated: "admission.repeated"
    case .roomMuted: "room.muted"
    case .messageSent: "message.sent"
    case .messageEdited: "message.edited"
    case .messageDeleted: "message.deleted"
    case .readMarkerMoved: "read-marker.moved"
    case .pushOutcomesRecorded: "push.outcomes-recorded"
    }
  }

  package init?(name: String) {
    guard let kind = EventKind.allCases.first(where: { $0.name == name }) else { return nil }
    self = kind
  }
}

/// What kind of aggregate a stream belongs to; stands in every record's envelope.
package enum StreamKind: UInt8, Sendable, CaseIterable {
  case user = 1
  case room = 2
  case workspace = 3
  case server = 4
}
