import ChatPrimitives

extension UserCommand {
  /// What the command says. Equal to the fingerprint of the first fact that it records, save when a refresh finds its
  /// token reused: the fact that ends the session does not say which token it was.
  package var fingerprint: Fingerprint {
    switch action {
    case .register(let registration): registration.fingerprint
    case .registerIdentified(let registration, _): registration.fingerprint
    case .changeProfile(let edit): .profileChange(edit)
    case .setEmail(let email, _): .emailSetting(email)
    case .changePassword(let credential, _), .resetPassword(let credential, _): .credentialSetting(credential)
    case .linkIdentity(let identity, _): .identityLink(identity)
    case .unlinkIdentity(let identity): .identityUnlink(identity)
    case .disable: .disabling
    case .enable: .enabling
    case .setPreferences(let preferences): .preferenceSetting(preferences)
    case .startSession(let id, let device, _): .sessionStart(id, device)
    case .refreshSession(let id, let presented, _): .sessionRefresh(id, presented: presented)
    case .endSession(let id, let reason): .sessionEnd(id, reason)
    case .endSessions(let selection): .sessionsEnd(selection.reason)
    case .setDevice(let id, let description): .deviceSetting(id, description)
    case .invalidatePushToken(let id, let token): .tokenInvalidation(id, token)
    case .removeDevice(let id): .deviceRemoval(id)
    case .uploadMedia(let id, let media, _): .mediaUpload(id, media)
    }
  }
}

extension UserEvent {
  /// What the command said that recorded this as its first fact; nil when the payload was erased.
  package var fingerprint: Fingerprint? {
    switch self {
    case .registered(let registration): registration.fingerprint
    case .profileChanged(let edit): .profileChange(edit)
    case .credentialSet(let credential): .credentialSetting(credential)
    case .identityLinked(let identity): .identityLink(identity)
    case .identityUnlinked(let identity, _): identity.map { .identityUnlink($0) }
    case .emailSet(let email): .emailSetting(email)
    case .disabled: .disabling
    case .enabled: .enabling
    case .preferencesSet(let preferences): .preferenceSetting(preferences)
    case .sessionStarted(let id, let device): .sessionStart(id, device)
    case .sessionRefreshed(let id, let generation): .sessionRefresh(id, presented: generation &- 1)
    case .sessionEnded(_, .othersLoggedOut): .sessionsEnd(.othersLoggedOut)
    case .sessionEnded(_, .allLoggedOut): .sessionsEnd(.allLoggedOut)
    case .sessionEnded(let id, let reason): .sessionEnd(id, reason)
    case .deviceRegistered(let id, let description), .deviceUpdated(let id, let description):
      .deviceSetting(id, description)
    case .pushTokenInvalidated(let id, let token): .tokenInvalidation(id, token)
    case .deviceRemoved(let id): .deviceRemoval(id)
    case .pushTokenMoved(let id, let token): .tokenMove(id, token)
    case .mediaUploaded(let id, let media, _): .mediaUpload(id, media)
    case .erased: nil
    }
  }
}

extension Fingerprint {
  /// A mere change of the nickname is told as it always was.
  static func profileChange(_ edit: ProfileEdit) -> Fingerprint {
    let plain: [Field] = [.text("profile.change"), .text(edit.nickname)]
    return Fingerprint(edit.picture.map { plain + [.id($0.media?.uuid)] } ?? plain)
  }

  static func credentialSetting(_ credential: Credential) -> Fingerprint {
    Fingerprint(.text("credential.set"), .number(Int64(credential.version)), .bytes(credential.hash))
  }

  static func identityLink(_ identity: Identity) -> Fingerprint {
    Fingerprint(.text("identity.link"), .text(identity.issuer), .text(identity.subject))
  }

  static func identityUnlink(_ identity: Identity) -> Fingerprint {
    Fingerprint(.text("identity.unlink"), .text(identity.issuer), .text(identity.subject))
  }

  static func emailSetting(_ email: String) -> Fingerprint { Fingerprint(.text("email.set"), .text(email)) }
  static var disabling: Fingerprint { Fingerprint(.text("user.disable")) }
  static var enabling: Fingerprint { Fingerprint(.text("user.enable")) }

  static func preferenceSetting(_ preferences: UserPreferences) -> Fingerprint {
    Fingerprint(.text("preferences.set"), .number(preferences.sharesReadMarkers ? 1 : 0))
  }

  static func tokenMove(_ id: DeviceID, _ token: PushToken) -> Fingerprint {
    Fingerprint([.text("device.token.move"), .id(id.uuid)] + fields(token))
  }

  /// The content alone: a repeat may call it by another name, and the first one stays.
  static func mediaUpload(_ id: MediaID, _ media: Media) -> Fingerprint {
    Fingerprint(.text("media.upload"), .id(id.uuid), .bytes(media.hash))
  }

  fileprivate static func sessionStart(_ id: SessionID, _ device: DeviceID?) -> Fingerprint {
    Fingerprint(.text("session.start"), .id(id.uuid), .id(device?.uuid))
  }

  fileprivate static func sessionRefresh(_ id: SessionID, presented: UInt32) -> Fingerprint {
    Fingerprint(.text("session.refresh"), .id(id.uuid), .number(Int64(presented)))
  }

  fileprivate static func sessionEnd(_ id: SessionID, _ reason: SessionEnd) -> Fingerprint {
    Fingerprint(.text("session.end"), .id(id.uuid), .number(Int64(reason.rawValue)))
  }

  /// Which sessions it ended depends on which there were; what was asked for does not.
  fileprivate static func sessionsEnd(_ reason: SessionEnd) -> Fingerprint {
    Fingerprint(.text("sessions.end"), .number(Int64(reason.rawValue)))
  }

  fileprivate static func deviceSetting(_ id: DeviceID, _ description: DeviceDescription) -> Fingerprint {
    let texts: [Field] = [
      .text("device.set"), .id(id.uuid), .text(description.name), .text(description.type),
      .text(description.osVersion),
    ]
    let level: [Field] = description.notifications == .all ? [] : [.number(Int64(description.notifications.rawValue))]
    return Fingerprint(texts + description.tokens.flatMap(fields) + level)
  }

  fileprivate static func tokenInvalidation(_ id: DeviceID, _ token: PushToken) -> Fingerprint {
    Fingerprint([.text("device.token.invalidate"), .id(id.uuid)] + fields(token))
  }

  fileprivate static func deviceRemoval(_ id: DeviceID) -> Fingerprint {
    Fingerprint(.text("device.remove"), .id(id.uuid))
  }

  private static func fields(_ token: PushToken) -> [Field] {
    [.number(Int64(token.provider.rawValue)), .text(token.token)]
  }
}
