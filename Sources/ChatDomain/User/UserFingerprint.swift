import ChatPrimitives

extension UserCommand {
  /// What the command says. Equal to the fingerprint of the first event that it records, save when a refresh finds its
  /// token reused: the event that ends the session does not say which token it was.
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
