package import ChatPrimitives

/// The facts of one workspace's stream; its channels are rooms, with streams of their own. `erased` stands for any of
/// them whose payload is gone, save those that have none.
package enum WorkspaceEvent: Sendable, Equatable {
  case created(WorkspaceCreation)
  case edited(WorkspaceEdit)
  case deleted
  case inviteCreated(WorkspaceInvite)
  case inviteRevoked(InviteID)
  /// Came in by a link, by an invitation, or by a service's word.
  case memberJoined(UserID, role: WorkspaceRole, by: WorkspaceAdmission)
  case memberLeft(UserID)
  /// Was put out by another member.
  case memberRemoved(UserID)
  /// Was to come in and had been a member all along; recorded for the idempotency key alone.
  case admissionRepeated(UserID, WorkspaceAdmission)
  /// May come in, if the user wants to. Of who is a member already it changes nothing, and is recorded for the
  /// idempotency key alone.
  case memberInvited(UserID, role: WorkspaceRole)
  /// The invited user said no, or whoever invited took it back.
  case invitationWithdrawn(UserID)
  case roleChanged(UserID, WorkspaceRole)
  /// The payload was erased; the kind number is kept.
  case erased(kind: UInt16)
}

package struct WorkspaceCreation: Sendable, Hashable {
  package var name: String
  /// Becomes the owner and first member.
  package var creator: UserID

  package init(name: String, creator: UserID) {
    self.name = name
    self.creator = creator
  }

  package var fingerprint: Fingerprint {
    Fingerprint(.text("workspace.create"), .text(name), .id(creator.uuid))
  }
}

/// What is put in the place of what; nil leaves a part as it is.
package struct WorkspaceEdit: Sendable, Hashable {
  package var name: String?
  /// An empty text takes it away.
  package var topic: String?
  package var picture: PictureEdit?

  package init(name: String? = nil, topic: String? = nil, picture: PictureEdit? = nil) {
    self.name = name
    self.topic = topic
    self.picture = picture
  }
}

/// A new picture, or none.
package enum PictureEdit: Sendable, Hashable {
  case set(MediaID)
  case remove
}

/// By what a user comes into a workspace.
package enum WorkspaceAdmission: Sendable, Hashable {
  case link(InviteID)
  /// Was invited by name and said yes.
  case invitation
  /// A service's word, or, for the creator, the creation.
  case service
}

/// What a member may do; the raw values stand in the log, ordered by power.
package enum WorkspaceRole: UInt8, Sendable, CaseIterable, Comparable {
  /// Sees the channels that a member has let them into, and nothing else.
  case guest = 1
  case member = 2
  case administrator = 3
  case owner = 4

  package var name: String {
    switch self {
    case .guest: "guest"
    case .member: "member"
    case .administrator: "administrator"
    case .owner: "owner"
    }
  }

  package init?(name: String) {
    guard let role = WorkspaceRole.allCases.first(where: { $0.name == name }) else { return nil }
    self = role
  }

  package static func < (left: WorkspaceRole, right: WorkspaceRole) -> Bool { left.rawValue < right.rawValue }
}
