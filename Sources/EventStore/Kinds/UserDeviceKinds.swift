import ChatDomain
import ChatPrimitives
import SwiftProtobuf

extension UserEvent.Devices: KindFamily {
  static let kinds = [registeredKind, updatedKind, tokenInvalidatedKind, removedKind, tokenTakenKind, tokenMovedKind]

  var kind: Kind<Self> {
    switch self {
    case .registered: Self.registeredKind
    case .updated: Self.updatedKind
    case .removed: Self.removedKind
    case .tokenInvalidated: Self.tokenInvalidatedKind
    case .tokenTaken: Self.tokenTakenKind
    case .tokenMoved: Self.tokenMovedKind
    }
  }

  private static let registeredKind = Kind<Self>(
    20, "device.registered", .secret,
    write: { event, output in
      guard case .registered(let device, let description) = event else { return }
      output.write(
        subject: device.uuid, Hansard_V1_DeviceDescribed.with(description), shows: description.shownFields)
    },
    read: { (body: Hansard_V1_DeviceDescribed, reader) in
      .registered(try reader.subject(DeviceID.self), try reader.device(body))
    })

  private static let updatedKind = Kind<Self>(
    21, "device.updated", .secret,
    write: { event, output in
      guard case .updated(let device, let description) = event else { return }
      output.write(
        subject: device.uuid, Hansard_V1_DeviceDescribed.with(description), shows: description.shownFields)
    },
    read: { (body: Hansard_V1_DeviceDescribed, reader) in
      .updated(try reader.subject(DeviceID.self), try reader.device(body))
    })

  private static let removedKind = Kind<Self>(
    23, "device.removed",
    write: { event, output in
      guard case .removed(let device) = event else { return }
      output.write(subject: device.uuid)
    },
    readEnvelope: { .removed(try $0.subject(DeviceID.self)) })

  private static let tokenInvalidatedKind = Kind<Self>(
    22, "push-token.invalidated", .secret,
    write: { event, output in
      guard case .tokenInvalidated(let device, let token) = event else { return }
      output.write(
        subject: device.uuid, Hansard_V1_PushTokenInvalidated.with { $0.token = .with(token) },
        shows: [("pushProvider", .text(token.provider.name))])
    },
    read: { (body: Hansard_V1_PushTokenInvalidated, reader) in
      .tokenInvalidated(try reader.subject(DeviceID.self), try reader.token(body.token))
    })

  private static let tokenTakenKind = Kind<Self>(
    25, "push-token.taken", .secret,
    write: { event, output in
      guard case .tokenTaken(let device, let provider) = event else { return }
      output.write(
        subject: device.uuid, Hansard_V1_PushToken.with { $0.provider = UInt32(provider.rawValue) },
        shows: [("pushProvider", .text(provider.name))])
    },
    read: { (body: Hansard_V1_PushToken, reader) in
      .tokenTaken(try reader.subject(DeviceID.self), try reader.value(body.provider, PushProvider.self))
    })

  private static let tokenMovedKind = Kind<Self>(
    24, "push-token.moved", .secret,
    write: { event, output in
      guard case .tokenMoved(let device, let token) = event else { return }
      output.write(
        subject: device.uuid, token.map { token in Hansard_V1_PushTokenInvalidated.with { $0.token = .with(token) } },
        shows: token.map { [("pushProvider", .text($0.provider.name))] } ?? EventOutput.erased)
    },
    readErasable: { (body: Hansard_V1_PushTokenInvalidated?, reader) in
      .tokenMoved(try reader.subject(DeviceID.self), try body.map { try reader.token($0.token) })
    })
}

extension DeviceDescription {
  fileprivate var shownFields: ShownFields {
    [
      ("name", .text(orNull: name)), ("type", .text(orNull: type)), ("osVersion", .text(orNull: osVersion)),
      ("pushProviders", .list(tokens.map { .text($0.provider.name) })), ("notifications", .text(notifications.name)),
      ("apnsEnvironment", .text(orNull: apnsEnvironment?.name)), ("language", .text(orNull: language)),
      ("roomChanges", .bool(roomChanges)),
    ]
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
      if let environment = description.apnsEnvironment { $0.apnsEnvironment = UInt32(environment.rawValue) }
      if let language = description.language { $0.language = language }
      $0.roomChanges = description.roomChanges
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

extension PayloadReader {
  fileprivate func device(_ body: Hansard_V1_DeviceDescribed) throws(CodecError) -> DeviceDescription {
    var tokens: [PushToken] = []
    for token in body.tokens { tokens.append(try self.token(token)) }
    return DeviceDescription(
      name: body.hasName ? body.name : nil, type: body.hasType ? body.type : nil,
      osVersion: body.hasOsVersion ? body.osVersion : nil, tokens: tokens,
      notifications: body.notifications == 0 ? .all : try value(body.notifications, NotificationLevel.self),
      apnsEnvironment: body.apnsEnvironment == 0 ? nil : try value(body.apnsEnvironment, APNsEnvironment.self),
      language: body.hasLanguage ? body.language : nil, roomChanges: body.roomChanges)
  }

  fileprivate func token(_ body: Hansard_V1_PushToken) throws(CodecError) -> PushToken {
    PushToken(provider: try value(body.provider, PushProvider.self), token: body.token)
  }
}
