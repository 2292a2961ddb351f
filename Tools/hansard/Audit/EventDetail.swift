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
    case .workspace(_, let event): fields = Self.fields(of: event)
    case .server(let event): fields = Self.fields(of: event)
    }
  }

  /// All that is left to say of a payload that is gone.
  static let erased: [(String, JSONValue)] = [("erased", .bool(true))]

  private static func fields(of event: UserEvent) -> [(String, JSONValue)] {
    switch event {
    case .account(.registered(let registration)):
      [
        ("nickname", .text(registration.nickname)),
        ("externalId", .text(orNull: registration.externalID)),
        ("hasPassword", .bool(registration.credential != nil)),
      ]
    case .account(.profileChanged(let edit)): fields(of: edit)
    case .logins(.credentialSet(let credential)): [("version", .number(UInt64(credential.version)))]
    case .logins(.identityLinked(let identity)): [("issuer", .text(identity.issuer))]
    case .logins(.identityUnlinked(let identity, let linked)):
      identity.map { [("issuer", .text($0.issuer)), ("linkedAt", .number(linked.value))] } ?? erased
    case .account(.emailSet), .account(.disabled), .account(.enabled): []
    case .account(.preferencesSet(let preferences)): [("sharesReadMarkers", .bool(preferences.sharesReadMarkers))]
    case .sessions(.started(_, let device)): [("device", .text(orNull: device?.description))]
    case .sessions(.refreshed(_, let generation)): [("generation", .number(UInt64(generation)))]
    case .sessions(.ended(_, let reason)): [("reason", .text(reason.shownName))]
    case .devices(.registered(_, let device)), .devices(.updated(_, let device)):
      [
        ("name", .text(orNull: device.name)),
        ("type", .text(orNull: device.type)),
        ("osVersion", .text(orNull: device.osVersion)),
        ("pushProviders", .list(device.tokens.map { .text($0.provider.shownName) })),
        ("notifications", .text(device.notifications.name)),
      ]
    case .devices(.tokenInvalidated(_, let token)), .devices(.tokenMoved(_, let token)):
      [("pushProvider", .text(token.provider.shownName))]
    case .devices(.removed): []
    case .media(.uploaded(_, let media, let name)): [("name", .text(orNull: name))] + Self.fields(of: media)
    case .erased: erased
    }
  }

  /// What stays as it is, is not shown.
  private static func fields(of edit: ProfileEdit) -> [(String, JSONValue)] {
    let nickname: [(String, JSONValue)] = edit.nickname.map { [("nickname", .text($0))] } ?? []
    return nickname + (edit.picture.map { [("picture", .text(orNull: $0.media?.description))] } ?? [])
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
              .object(
                [
                  ("position", .number(outcome.position.value)),
                  ("user", .text(outcome.user.description)),
                  ("device", .text(outcome.device.description)),
                  ("result", .text(outcome.result.shownName)),
                ] + (outcome.reason.map { [("reason", .text($0.shownName))] } ?? []))
            })
        ),
      ]
    case .signingKeyRotated(let generation): [("generation", .number(UInt64(generation)))]
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
    case .accountDisabled: "account_disabled"
    case .passwordChanged: "password_changed"
    case .othersLoggedOut: "others_logged_out"
    case .allLoggedOut: "all_logged_out"
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
  var shownName: String {
    switch self {
    case .delivered: "delivered"
    case .tokenInvalid: "token_invalid"
    case .abandoned: "abandoned"
    }
  }
}

extension PushAbandonment {
  var shownName: String {
    switch self {
    case .expired: "expired"
    case .attemptsUsedUp: "attempts_used_up"
    case .deleted: "deleted"
    case .left: "left"
    case .accountDisabled: "account_disabled"
    case .mutedRoom: "muted_room"
    case .notificationsOff: "notifications_off"
    case .mentionsOnly: "mentions_only"
    }
  }
}
