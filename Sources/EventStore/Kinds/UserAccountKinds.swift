import ChatDomain
import ChatPrimitives
import Foundation
import SwiftProtobuf

extension UserEvent.Account: KindFamily {
  static let kinds = [registeredKind, profileChangedKind, emailSetKind, disabledKind, enabledKind, preferencesSetKind]

  var kind: Kind<Self> {
    switch self {
    case .registered: Self.registeredKind
    case .profileChanged: Self.profileChangedKind
    case .emailSet: Self.emailSetKind
    case .disabled: Self.disabledKind
    case .enabled: Self.enabledKind
    case .preferencesSet: Self.preferencesSetKind
    }
  }

  private static let registeredKind = Kind<Self>(
    1, "user.registered", .secret,
    write: { event, output in
      guard case .registered(let registration) = event else { return }
      output.write(
        Hansard_V1_UserRegistered.with(registration),
        shows: [
          ("nickname", .text(registration.nickname)), ("externalId", .text(orNull: registration.externalID)),
          ("hasPassword", .bool(registration.credential != nil)),
        ])
    },
    read: { (body: Hansard_V1_UserRegistered, reader) in
      .registered(
        Registration(
          nickname: body.nickname, email: body.hasEmail ? body.email : nil,
          externalID: body.hasExternalID ? body.externalID : nil,
          credential: body.hasCredential ? try reader.credential(body.credential) : nil,
          commitmentKey: Array(body.commitmentKey)))
    })

  /// All zeros mean that the picture was removed, because no ID is all zeros.
  private static let profileChangedKind = Kind<Self>(
    2, "profile.changed", .disclosed,
    write: { event, output in
      guard case .profileChanged(let edit) = event else { return }
      output.write(
        Hansard_V1_ProfileChanged.with {
          if let nickname = edit.nickname { $0.nickname = nickname }
          if let picture = edit.picture { $0.picture = Data((picture.media?.uuid ?? .zero).bytes) }
          if let custom = edit.custom { $0.custom = custom }
        }, shows: edit.shownFields)
    },
    read: { (body: Hansard_V1_ProfileChanged, reader) in
      let isRemoved = body.picture == Data(UUIDBytes.zero.bytes)
      let media = isRemoved ? nil : try reader.id(body.picture) as MediaID?
      return .profileChanged(
        ProfileEdit(
          nickname: body.nickname.isEmpty ? nil : body.nickname,
          picture: isRemoved ? .remove : media.map { .set($0) }, custom: body.hasCustom ? body.custom : nil))
    })

  private static let emailSetKind = Kind<Self>(
    5, "email.set", .secret,
    write: { event, output in
      guard case .emailSet(let email) = event else { return }
      output.write(Hansard_V1_EmailSet.with { $0.email = email }, shows: [])
    },
    read: { (body: Hansard_V1_EmailSet, _) in .emailSet(body.email) })

  private static let disabledKind = Kind<Self>(
    6, "user.disabled", write: { $1.write() }, readEnvelope: { _ in .disabled })
  private static let enabledKind = Kind<Self>(
    7, "user.enabled", write: { $1.write() }, readEnvelope: { _ in .enabled })

  private static let preferencesSetKind = Kind<Self>(
    8, "preferences.set", .disclosed,
    write: { event, output in
      guard case .preferencesSet(let edit) = event else { return }
      output.write(Hansard_V1_PreferencesSet.with(edit), shows: edit.shownFields)
    },
    read: { (body: Hansard_V1_PreferencesSet, reader) in .preferencesSet(try reader.preferences(body)) })
}

extension PayloadReader {
  fileprivate func preferences(_ body: Hansard_V1_PreferencesSet) throws(CodecError) -> PreferencesEdit {
    PreferencesEdit(
      sharesReadMarkers: body.keepsReadMarkers ? nil : !body.hidesReadMarkers,
      acceptsDirectMessages: body.hasRefusesDirectMessages ? !body.refusesDirectMessages : nil,
      sharesPresence: body.hasHidesPresence ? !body.hidesPresence : nil,
      notifications: body.notifications == 0 ? nil : try value(body.notifications, NotificationLevel.self),
      mutedKinds: body.hasMutedKinds ? try alertKinds(body.mutedKinds.kinds) : nil,
      quietHours: body.hasQuietHours ? try quietHours(body.quietHours) : nil,
      showsPreviews: body.hasHidesPreviews ? !body.hidesPreviews : nil,
      directRooms: try contactRule(body.directRooms), groupAdditions: try contactRule(body.groupAdditions))
  }

  private func contactRule(_ number: UInt32) throws(CodecError) -> ContactRule? {
    number == 0 ? nil : try value(number, ContactRule.self)
  }

  private func alertKinds(_ numbers: [UInt32]) throws(CodecError) -> AlertKinds {
    var kinds: [AlertKind] = []
    for number in numbers { kinds.append(try value(number, AlertKind.self)) }
    return AlertKinds(kinds)
  }

  private func quietHours(_ body: Hansard_V1_QuietHours) throws(CodecError) -> QuietHoursEdit {
    if body.timeZone.isEmpty { return .remove }
    return .set(
      QuietHours(
        from: try timeOfDay(body.fromMinute), to: try timeOfDay(body.toMinute), timeZone: body.timeZone))
  }

  private func timeOfDay(_ number: UInt32) throws(CodecError) -> TimeOfDay {
    guard let time = UInt16(exactly: number).flatMap({ TimeOfDay(minutes: $0) }) else {
      throw failure(.malformedPayload, "\(number) is not a minute of a day")
    }
    return time
  }
}

extension PreferencesEdit {
  /// The preferences that the edit changes.
  fileprivate var shownFields: ShownFields {
    var fields: ShownFields = []
    if let sharesReadMarkers { fields.append(("sharesReadMarkers", .bool(sharesReadMarkers))) }
    if let acceptsDirectMessages { fields.append(("acceptsDirectMessages", .bool(acceptsDirectMessages))) }
    if let sharesPresence { fields.append(("sharesPresence", .bool(sharesPresence))) }
    if let notifications { fields.append(("notifications", .text(notifications.name))) }
    if let mutedKinds { fields.append(("mutedKinds", .list(mutedKinds.kinds.map { .text($0.name) }))) }
    if let quietHours { fields.append(("quietHours", .text(orNull: quietHours.hours?.shown))) }
    if let showsPreviews { fields.append(("showsPreviews", .bool(showsPreviews))) }
    if let directRooms { fields.append(("directRooms", .text(directRooms.name))) }
    if let groupAdditions { fields.append(("groupAdditions", .text(groupAdditions.name))) }
    return fields
  }
}

extension QuietHours {
  fileprivate var shown: String { "\(from.text)-\(to.text) \(timeZone)" }
}

extension Hansard_V1_PreferencesSet {
  fileprivate static func with(_ edit: PreferencesEdit) -> Self {
    .with {
      if let shares = edit.sharesReadMarkers { $0.hidesReadMarkers = !shares } else { $0.keepsReadMarkers = true }
      if let accepts = edit.acceptsDirectMessages { $0.refusesDirectMessages = !accepts }
      if let shares = edit.sharesPresence { $0.hidesPresence = !shares }
      if let level = edit.notifications { $0.notifications = UInt32(level.rawValue) }
      if let kinds = edit.mutedKinds {
        $0.mutedKinds = .with { $0.kinds = kinds.kinds.map { UInt32($0.rawValue) } }
      }
      if let quiet = edit.quietHours { $0.quietHours = .with(quiet.hours) }
      if let shows = edit.showsPreviews { $0.hidesPreviews = !shows }
      if let rule = edit.directRooms { $0.directRooms = UInt32(rule.rawValue) }
      if let rule = edit.groupAdditions { $0.groupAdditions = UInt32(rule.rawValue) }
    }
  }
}

extension Hansard_V1_QuietHours {
  fileprivate static func with(_ hours: QuietHours?) -> Self {
    .with {
      guard let hours else { return }
      $0.fromMinute = UInt32(hours.from.minutes)
      $0.toMinute = UInt32(hours.to.minutes)
      $0.timeZone = hours.timeZone
    }
  }
}

extension ProfileEdit {
  /// The fields that the edit changes.
  fileprivate var shownFields: ShownFields {
    var fields: ShownFields = []
    if let nickname { fields.append(("nickname", .text(nickname))) }
    if let picture { fields.append(("picture", .text(orNull: picture.media?.description))) }
    if let custom { fields.append(("custom", .text(custom))) }
    return fields
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
