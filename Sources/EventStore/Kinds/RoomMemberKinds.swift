import ChatDomain
import ChatPrimitives
import Foundation
import SwiftProtobuf

extension RoomEvent.Members: KindFamily {
  static let kinds = [
    joinedKind, addedKind, leftKind, removedKind, admissionRepeatedKind, mutedKind, roleChangedKind, bannedKind,
    unbannedKind, silencedKind, notificationsSetKind, hiddenKind, shownKind,
  ]

  var kind: Kind<Self> {
    switch self {
    case .joined: Self.joinedKind
    case .added: Self.addedKind
    case .admissionRepeated: Self.admissionRepeatedKind
    case .left: Self.leftKind
    case .removed: Self.removedKind
    case .roleChanged: Self.roleChangedKind
    case .banned: Self.bannedKind
    case .unbanned: Self.unbannedKind
    case .silenced: Self.silencedKind
    case .muted: Self.mutedKind
    case .notificationsSet: Self.notificationsSetKind
    case .hidden: Self.hiddenKind
    case .shown: Self.shownKind
    }
  }

  private static let joinedKind = Kind<Self>(
    120, "member.joined", .disclosed,
    write: { event, output in
      guard case .joined(let user, let role, let invite) = event else { return }
      output.write(
        subject: user.uuid,
        Hansard_V1_MemberJoined.with {
          $0.role = UInt32(role.rawValue)
          if let invite { $0.inviteID = Data(invite.uuid.bytes) }
        }, shows: [("role", .text(role.name)), ("invite", .text(orNull: invite?.description))])
    },
    read: { (body: Hansard_V1_MemberJoined, reader) in
      .joined(
        try reader.subject(UserID.self), role: try reader.value(body.role, Role.self),
        invite: try reader.id(body.inviteID))
    })

  private static let addedKind = Kind<Self>(
    121, "member.added", .disclosed,
    write: { event, output in
      guard case .added(let user, let role) = event else { return }
      output.write(
        subject: user.uuid, Hansard_V1_MemberAdded.with { $0.role = UInt32(role.rawValue) },
        shows: [("role", .text(role.name))])
    },
    read: { (body: Hansard_V1_MemberAdded, reader) in
      .added(try reader.subject(UserID.self), role: try reader.value(body.role, Role.self))
    })

  private static let admissionRepeatedKind = Kind<Self>(
    124, "admission.repeated", .disclosed,
    write: { event, output in
      guard case .admissionRepeated(let user, let admission) = event else { return }
      output.write(subject: user.uuid, Hansard_V1_AdmissionRepeated.with(admission), shows: admission.shownFields)
    },
    read: { (body: Hansard_V1_AdmissionRepeated, reader) in
      let invite = try reader.id(body.inviteID) as InviteID?
      return .admissionRepeated(
        try reader.subject(UserID.self), invite.map { .invite($0) } ?? (body.byMember ? .member : .service))
    })

  private static let leftKind = Kind<Self>(
    122, "member.left",
    write: { event, output in
      guard case .left(let user) = event else { return }
      output.write(subject: user.uuid)
    },
    readEnvelope: { .left(try $0.subject(UserID.self)) })

  private static let removedKind = Kind<Self>(
    123, "member.removed",
    write: { event, output in
      guard case .removed(let user) = event else { return }
      output.write(subject: user.uuid)
    },
    readEnvelope: { .removed(try $0.subject(UserID.self)) })

  private static let roleChangedKind = Kind<Self>(
    126, "role.changed", .disclosed,
    write: { event, output in
      guard case .roleChanged(let user, let role) = event else { return }
      output.write(
        subject: user.uuid, Hansard_V1_RoleChanged.with { $0.role = UInt32(role.rawValue) },
        shows: [("role", .text(role.name))])
    },
    read: { (body: Hansard_V1_RoleChanged, reader) in
      .roleChanged(try reader.subject(UserID.self), try reader.value(body.role, Role.self))
    })

  private static let bannedKind = Kind<Self>(
    127, "member.banned",
    write: { event, output in
      guard case .banned(let user) = event else { return }
      output.write(subject: user.uuid)
    },
    readEnvelope: { .banned(try $0.subject(UserID.self)) })

  private static let unbannedKind = Kind<Self>(
    128, "member.unbanned",
    write: { event, output in
      guard case .unbanned(let user) = event else { return }
      output.write(subject: user.uuid)
    },
    readEnvelope: { .unbanned(try $0.subject(UserID.self)) })

  private static let silencedKind = Kind<Self>(
    129, "member.silenced", .disclosed,
    write: { event, output in
      guard case .silenced(let user, let until) = event else { return }
      output.write(
        subject: user.uuid, Hansard_V1_MemberSilenced.with { if let until { $0.untilMs = until.milliseconds } },
        shows: .until(until))
    },
    read: { (body: Hansard_V1_MemberSilenced, reader) in
      .silenced(
        try reader.subject(UserID.self), until: body.hasUntilMs ? Timestamp(milliseconds: body.untilMs) : nil)
    })

  private static let mutedKind = Kind<Self>(
    125, "room.muted", .disclosed,
    write: { event, output in
      guard case .muted(let user, let until) = event else { return }
      output.write(
        subject: user.uuid, Hansard_V1_RoomMuted.with { if let until { $0.untilMs = until.milliseconds } },
        shows: .until(until))
    },
    read: { (body: Hansard_V1_RoomMuted, reader) in
      .muted(try reader.subject(UserID.self), until: body.hasUntilMs ? Timestamp(milliseconds: body.untilMs) : nil)
    })

  private static let notificationsSetKind = Kind<Self>(
    180, "member.notifications-set", .disclosed,
    write: { event, output in
      guard case .notificationsSet(let user, let level) = event else { return }
      output.write(
        subject: user.uuid,
        Hansard_V1_RoomNotificationsSet.with { if let level { $0.level = UInt32(level.rawValue) } },
        shows: [("level", .text(orNull: level?.name))])
    },
    read: { (body: Hansard_V1_RoomNotificationsSet, reader) in
      .notificationsSet(
        try reader.subject(UserID.self), body.level == 0 ? nil : try reader.value(body.level, NotificationLevel.self))
    })

  private static let hiddenKind = Kind<Self>(
    183, "room.hidden",
    write: { event, output in
      guard case .hidden(let user) = event else { return }
      output.write(subject: user.uuid)
    },
    readEnvelope: { .hidden(try $0.subject(UserID.self)) })

  private static let shownKind = Kind<Self>(
    184, "room.shown",
    write: { event, output in
      guard case .shown(let user) = event else { return }
      output.write(subject: user.uuid)
    },
    readEnvelope: { .shown(try $0.subject(UserID.self)) })
}

extension JoinMethod {
  fileprivate var shownFields: ShownFields {
    switch self {
    case .invite(let id): [("invite", .text(id.description))]
    case .service, .member: []
    }
  }
}

extension Hansard_V1_AdmissionRepeated {
  fileprivate static func with(_ admission: JoinMethod) -> Self {
    .with {
      switch admission {
      case .invite(let id): $0.inviteID = Data(id.uuid.bytes)
      case .service: break
      case .member: $0.byMember = true
      }
    }
  }
}
