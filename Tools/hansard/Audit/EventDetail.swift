import ChatDomain
import ChatPrimitives
import EventStore

/// What a fact says beside its envelope, as the tools show it. Never a credential, a commitment key, a token or the hash
/// of one, and never an e-mail address.
struct EventDetail {
  let fields: [(String, JSONValue)]

  init(_ event: ChatEvent) {
    switch event {
    case .user(_, let event): fields = Self.fields(of: event)
    case .room(_, let event): fields = Self.fields(of: event)
    case .server(let event): fields = Self.fields(of: event)
    }
  }

  /// All that is left to say of a payload that is gone.
  private static let erased: [(String, JSONValue)] = [("erased", .bool(true))]

  private static func fields(of event: UserEvent) -> [(String, JSONValue)] {
    switch event {
    case .registered(let registration):
      [
        ("nickname", .text(registration.nickname)),
        ("externalId", .text(orNull: registration.externalID)),
        ("hasPassword", .bool(registration.credential != nil)),
      ]
    case .profileChanged(let nickname): [("nickname", .text(nickname))]
    case .sessionStarted(_, let device): [("device", .text(orNull: device?.description))]
    case .sessionRefreshed(_, let generation): [("generation", .number(UInt64(generation)))]
    case .sessionEnded(_, let reason): [("reason", .text(reason.shownName))]
    case .deviceRegistered(_, let device), .deviceUpdated(_, let device):
      [
        ("name", .text(orNull: device.name)),
        ("type", .text(orNull: device.type)),
        ("osVersion", .text(orNull: device.osVersion)),
        ("pushProviders", .list(device.tokens.map { .text($0.provider.shownName) })),
      ]
    case .pushTokenInvalidated(_, let token): [("pushProvider", .text(token.provider.shownName))]
    case .deviceRemoved: []
    case .erased: erased
    }
  }

  private static func fields(of event: RoomEvent) -> [(String, JSONValue)] {
    switch event {
    case .created(let creation): [("kind", .text(creation.kind.name)), ("name", .text(creation.name))]
    case .renamed(let name): [("name", .text(name))]
    case .archived, .inviteRevoked, .memberLeft, .memberRemoved: []
    case .inviteCreated(let invite):
      [
        ("role", .text(invite.role.name)),
        ("expiresAt", .text(invite.expiresAt.rfc3339)),
        ("maximumUses", invite.maximumUses.map { .number(UInt64($0)) } ?? .null),
      ]
    case .memberJoined(_, let role, let invite):
      [("role", .text(role.name)), ("invite", .text(orNull: invite?.description))]
    case .memberAdded(_, let role): [("role", .text(role.name))]
    case .admissionRepeated(_, .invite(let id)): [("invite", .text(id.description))]
    case .admissionRepeated: []
    case .muted(_, let until): [("until", .text(orNull: until?.rfc3339))]
    case .messageSent(_, _, let text): text.map { [("text", .text($0))] } ?? erased
    case .messageEdited(_, let ordinal, let text):
      [("ordinal", .number(ordinal))] + (text.map { [("text", .text($0))] } ?? erased)
    case .messageDeleted(_, let ordinal): [("ordinal", .number(ordinal))]
    case .readMarkerMoved(_, _, let ordinal): [("ordinal", .number(ordinal))]
    case .erased: erased
    }
  }

  private static func fields(of event: ServerEvent) -> [(String, JSONValue)] {
    switch event {
    case .pushOutcomesRecorded(let outcomes):
      [
        ("settledThrough", .number(outcomes.settledThrough.value)),
        (
          "outcomes",
          .list(
            outcomes.outcomes.map { outcome in
              .object([
                ("position", .number(outcome.position.value)),
                ("user", .text(outcome.user.description)),
                ("device", .text(outcome.device.description)),
                ("result", .text(outcome.result.shownName)),
              ])
            })
        ),
      ]
    case .erased: erased
    }
  }
}

extension SessionEnd {
  fileprivate var shownName: String {
    switch self {
    case .loggedOut: "logged_out"
    case .refreshTokenReused: "refresh_token_reused"
    case .deviceRemoved: "device_removed"
    case .superseded: "superseded"
    }
  }
}

extension PushProvider {
  fileprivate var shownName: String {
    switch self {
    case .apns: "apns"
    case .fcm: "fcm"
    }
  }
}

extension PushResult {
  fileprivate var shownName: String {
    switch self {
    case .delivered: "delivered"
    case .tokenInvalid: "token_invalid"
    case .abandoned: "abandoned"
    }
  }
}
