import ChatDomain
import ChatPrimitives
import EventLog
import Foundation
import SwiftProtobuf

extension EventCodec {
  /// Nil for an erased fact, which is never written anew.
  static func encode(_ event: UserEvent) -> EncodedBody? {
    switch event {
    case .account(.registered(let registration)):
      EncodedBody(.userRegistered, Hansard_V1_UserRegistered.with(registration))
    case .account(.profileChanged(let edit)):
      EncodedBody(
        .profileChanged,
        Hansard_V1_ProfileChanged.with {
          if let nickname = edit.nickname { $0.nickname = nickname }
          if let picture = edit.picture { $0.picture = Data((picture.media?.uuid ?? .zero).bytes) }
        })
    case .logins(.credentialSet(let credential)):
      EncodedBody(.credentialSet, Hansard_V1_CredentialSet.with { $0.credential = .with(credential) })
    case .logins(.identityLinked(let identity)):
      EncodedBody(.identityLinked, Hansard_V1_IdentityLinked.with(identity))
    case .logins(.identityUnlinked(let identity, let linked)):
      EncodedBody(
        .identityUnlinked, subject: UUIDBytes(high: 0, low: linked.value), Hansard_V1_IdentityLinked.with(identity))
    case .account(.emailSet(let email)):
      EncodedBody(.emailSet, Hansard_V1_EmailSet.with { $0.email = email })
    case .account(.disabled):
      EncodedBody(.userDisabled)
    case .account(.enabled):
      EncodedBody(.userEnabled)
    case .account(.preferencesSet(let preferences)):
      EncodedBody(
        .preferencesSet,
        Hansard_V1_PreferencesSet.with { $0.hidesReadMarkers = !preferences.sharesReadMarkers })
    case .sessions(.started(let session, let device)):
      EncodedBody(
        .sessionStarted, subject: session.uuid,
        Hansard_V1_SessionStarted.with { if let device { $0.deviceID = Data(device.uuid.bytes) } })
    case .sessions(.refreshed(let session, let generation)):
      EncodedBody(
        .sessionRefreshed, subject: session.uuid, Hansard_V1_SessionRefreshed.with { $0.generation = generation })
    case .sessions(.ended(let session, let reason)):
      EncodedBody(
        .sessionEnded, subject: session.uuid, Hansard_V1_SessionEnded.with { $0.reason = UInt32(reason.rawValue) })
    case .devices(.registered(let device, let description)):
      EncodedBody(.deviceRegistered, subject: device.uuid, Hansard_V1_DeviceDescribed.with(description))
    case .devices(.updated(let device, let description)):
      EncodedBody(.deviceUpdated, subject: device.uuid, Hansard_V1_DeviceDescribed.with(description))
    case .devices(.tokenInvalidated(let device, let token)):
      EncodedBody(
        .pushTokenInvalidated, subject: device.uuid,
        Hansard_V1_PushTokenInvalidated.with { $0.token = .with(token) })
    case .devices(.removed(let device)):
      EncodedBody(.deviceRemoved, subject: device.uuid)
    case .devices(.tokenMoved(let device, let token)):
      EncodedBody(
        .pushTokenMoved, subject: device.uuid, Hansard_V1_PushTokenInvalidated.with { $0.token = .with(token) })
    case .media(.uploaded(let media, let content, let name)):
      EncodedBody(
        .mediaUploaded, subject: media.uuid,
        Hansard_V1_MediaUploaded.with {
          $0.content = .with(content)
          if let name { $0.name = name }
        })
    case .erased: nil
    }
  }

  /// What the envelope alone tells is read also when the payload was erased: erasing undoes no removal.
  static func decode(_ kind: UserEventKind, _ reader: PayloadReader) throws(CodecError) -> UserEvent {
    switch kind {
    case .deviceRemoved: return .devices(.removed(try reader.subject(DeviceID.self)))
    case .userDisabled: return .account(.disabled)
    case .userEnabled: return .account(.enabled)
    case .identityUnlinked:
      guard let linked = record(reader) else { throw reader.failure(.missingField, "subject") }
      let body = try reader.message(Hansard_V1_IdentityLinked.self)
      return .logins(.identityUnlinked(body.map { Identity(issuer: $0.issuer, subject: $0.subject) }, linked: linked))
    case .userRegistered:
      guard let body = try reader.message(Hansard_V1_UserRegistered.self) else { break }
      return .account(.registered(try decodeRegistration(body, reader)))
    case .profileChanged:
      guard let body = try reader.message(Hansard_V1_ProfileChanged.self) else { break }
      return .account(
        .profileChanged(
          ProfileEdit(nickname: body.nickname.isEmpty ? nil : body.nickname, picture: try decodePicture(body, reader))))
    case .credentialSet:
      guard let body = try reader.message(Hansard_V1_CredentialSet.self) else { break }
      return .logins(.credentialSet(try decodeCredential(body.credential, reader)))
    case .identityLinked:
      guard let body = try reader.message(Hansard_V1_IdentityLinked.self) else { break }
      return .logins(.identityLinked(Identity(issuer: body.issuer, subject: body.subject)))
    case .emailSet:
      guard let body = try reader.message(Hansard_V1_EmailSet.self) else { break }
      return .account(.emailSet(body.email))
    case .preferencesSet:
      guard let body = try reader.message(Hansard_V1_PreferencesSet.self) else { break }
      return .account(.preferencesSet(UserPreferences(sharesReadMarkers: !body.hidesReadMarkers)))
    case .sessionStarted:
      guard let body = try reader.message(Hansard_V1_SessionStarted.self) else { break }
      return .sessions(.started(try reader.subject(SessionID.self), device: try reader.id(Array(body.deviceID))))
    case .sessionRefreshed:
      guard let body = try reader.message(Hansard_V1_SessionRefreshed.self) else { break }
      return .sessions(.refreshed(try reader.subject(SessionID.self), generation: body.generation))
    case .sessionEnded:
      guard let body = try reader.message(Hansard_V1_SessionEnded.self) else { break }
      return .sessions(.ended(try reader.subject(SessionID.self), try reader.value(body.reason, SessionEnd.self)))
    case .deviceRegistered:
      guard let body = try reader.message(Hansard_V1_DeviceDescribed.self) else { break }
      return .devices(.registered(try reader.subject(DeviceID.self), try decodeDevice(body, reader)))
    case .deviceUpdated:
      guard let body = try reader.message(Hansard_V1_DeviceDescribed.self) else { break }
      return .devices(.updated(try reader.subject(DeviceID.self), try decodeDevice(body, reader)))
    case .pushTokenInvalidated:
      guard let body = try reader.message(Hansard_V1_PushTokenInvalidated.self) else { break }
      return .devices(.tokenInvalidated(try reader.subject(DeviceID.self), try decodeToken(body.token, reader)))
    case .pushTokenMoved:
      guard let body = try reader.message(Hansard_V1_PushTokenInvalidated.self) else { break }
      return .devices(.tokenMoved(try reader.subject(DeviceID.self), try decodeToken(body.token, reader)))
    case .mediaUploaded:
      guard let body = try reader.message(Hansard_V1_MediaUploaded.self) else { break }
      return .media(
        .uploaded(
          try reader.subject(MediaID.self), Media(body.content), name: body.hasName ? body.name : nil))
    }
    return .erased(kind: reader.kind.rawValue)
  }

  /// The record that the subject names by its position.
  private static func record(_ reader: PayloadReader) -> LogPosition? {
    reader.record.envelope.subject.map { LogPosition($0.low) }
  }

  /// No ID is all zeros, so that stands for a picture that was taken away.
  private static func decodePicture(
    _ body: Hansard_V1_ProfileChanged, _ reader: PayloadReader
  ) throws(CodecError) -> PictureEdit? {
    if body.picture == Data(UUIDBytes.zero.bytes) { return .remove }
    let media: MediaID? = try reader.id(body.picture)
    return media.map { .set($0) }
  }

  private static func decodeRegistration(
    _ body: Hansard_V1_UserRegistered, _ reader: PayloadReader
  ) throws(CodecError) -> Registration {
    let credential = body.hasCredential ? try decodeCredential(body.credential, reader) : nil
    return Registration(
      nickname: body.nickname, email: body.hasEmail ? body.email : nil,
      externalID: body.hasExternalID ? body.externalID : nil, credential: credential,
      commitmentKey: Array(body.commitmentKey))
  }

  private static func decodeCredential(
    _ body: Hansard_V1_Credential, _ reader: PayloadReader
  ) throws(CodecError) -> Credential {
    Credential(
      version: body.version, hash: Array(body.hash), logRounds: try reader.byte(body.logRounds),
      blockSize: try reader.byte(body.blockSize), parallelism: try reader.byte(body.parallelism))
  }

  private static func decodeDevice(
    _ body: Hansard_V1_DeviceDescribed, _ reader: PayloadReader
  ) throws(CodecError) -> DeviceDescription {
    var tokens: [PushToken] = []
    for token in body.tokens { tokens.append(try decodeToken(token, reader)) }
    return DeviceDescription(
      name: body.hasName ? body.name : nil, type: body.hasType ? body.type : nil,
      osVersion: body.hasOsVersion ? body.osVersion : nil, tokens: tokens,
      notifications: body.notifications == 0 ? .all : try reader.value(body.notifications, NotificationLevel.self))
  }

  private static func decodeToken(
    _ body: Hansard_V1_PushToken, _ reader: PayloadReader
  ) throws(CodecError) -> PushToken {
    PushToken(provider: try reader.value(body.provider, PushProvider.self), token: body.token)
  }
}

extension Hansard_V1_UserRegistered {
  fileprivate static func with(_ registration: Registration) -> Self {
    .with {
      $0.nickname = registration.nickname
      if let email = registration.email { $0.email = email }
      if let externalID = registration.externalID { $0.externalID = externalID }
      if let credential = registration.credential { $0.credential = .with(credential) }
      $0.commitmentKey = Data(registration.commitmentKey)
    }
  }
}

extension Hansard_V1_IdentityLinked {
  /// - Parameter identity: nil in an erased fact alone, which is never written anew.
  fileprivate static func with(_ identity: Identity?) -> Self {
    .with {
      $0.issuer = identity?.issuer ?? ""
      $0.subject = identity?.subject ?? ""
    }
  }
}

extension Hansard_V1_Credential {
  fileprivate static func with(_ credential: Credential) -> Self {
    .with {
      $0.version = credential.version
      $0.hash = Data(credential.hash)
      $0.logRounds = UInt32(credential.logRounds)
      $0.blockSize = UInt32(credential.blockSize)
      $0.parallelism = UInt32(credential.parallelism)
    }
  }
}

extension Hansard_V1_DeviceDescribed {
  fileprivate static func with(_ description: DeviceDescription) -> Self {
    .with {
      if let name = description.name { $0.name = name }
      if let type = description.type { $0.type = type }
      if let osVersion = description.osVersion { $0.osVersion = osVersion }
      $0.tokens = description.tokens.map { .with($0) }
      if description.notifications != .all { $0.notifications = UInt32(description.notifications.rawValue) }
    }
  }
}

extension Hansard_V1_PushToken {
  fileprivate static func with(_ token: PushToken) -> Self {
    .with {
      $0.provider = UInt32(token.provider.rawValue)
      $0.token = token.token
    }
  }
}
