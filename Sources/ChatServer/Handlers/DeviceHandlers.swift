import ChatDomain
import ChatPrimitives
import ChatProjections
import ChatProtocol
import ChatService
import Hummingbird

import struct ChatProtocol.Device

struct DeviceHandlers: Sendable {
  let chat: ChatService
  /// Nil if the server sends no messages to browsers itself.
  let allowsWebPushEndpoint: (@Sendable (_ endpoint: String) -> Bool)?

  func list(_ context: HansardRequestContext) async throws -> TypedResponse<DeviceList> {
    let rows = try await chat.devices(of: context.user)
    return try await JSONBody.page(of: rows.count) {
      DeviceList(devices: rows.map { Device($0.id, $0.description, $0.revision) })
    }
  }

  func get(_ context: HansardRequestContext) async throws -> TypedResponse<Device> {
    let row = try await chat.device(context.id("deviceId"), of: context.user)
    return try JSONBody.response(Device(row.id, row.description, row.revision))
  }

  func put(_ context: HansardRequestContext, _ body: TypedBody<PutDeviceRequest>) async throws -> TypedResponse<Device>
  {
    let id: DeviceID = try context.id("deviceId")
    let description = try DeviceDescription(await body.decoded(), allowsWebPushEndpoint)
    let outcome = try await chat.setDevice(
      id, description, by: context.actor, command: context.command(), if: context.precondition())
    return try JSONBody.receipt(outcome.result, Device(id, description, outcome.stamp.position))
  }

  func delete(_ context: HansardRequestContext) async throws -> TypedResponse<Device> {
    let id: DeviceID = try context.id("deviceId")
    let outcome = try await chat.removeDevice(
      id, by: context.actor, command: context.command(), if: context.precondition())
    return try JSONBody.receipt(
      outcome.result,
      Device(id, DeviceDescription(name: nil, type: nil, osVersion: nil, tokens: []), outcome.stamp.position))
  }
}

extension DeviceDescription {
  fileprivate init(_ body: PutDeviceRequest, _ allowsEndpoint: ((String) -> Bool)?) throws {
    var values = FieldValues()
    let level = try body.notifications.flatMap { name in
      try values.value { try NotificationLevel(name, field: "notifications") }
    }
    let environment = try body.apnsEnvironment.flatMap { name in
      try values.value { try APNsEnvironment(name, field: "apnsEnvironment") }
    }
    let subscription = body.webPush.flatMap { WebPushSubscription($0.body, allowsEndpoint, &values) }
    self.init(
      name: body.name, type: body.type, osVersion: body.osVersion,
      tokens: [
        body.apnsToken.map { PushToken(provider: .apns, token: Self.apnsToken($0)) },
        body.fcmToken.map { PushToken(provider: .fcm, token: $0) },
        subscription.map { PushToken(provider: .webPush, token: $0.token) },
      ].compactMap { $0 }, notifications: level ?? .all, apnsEnvironment: environment, language: body.language,
      roomChanges: body.roomChanges ?? false)
    try values.requireNone(further: fieldFlaws.map { FieldProblem($0) })
  }

  /// Apple's tokens are bytes, which apps write as hexadecimal digits of either case. In lower case, equal bytes are
  /// equal tokens.
  private static func apnsToken(_ text: String) -> String {
    text.utf8.allSatisfy { UnicodeScalar($0).properties.isASCIIHexDigit } ? text.lowercased() : text
  }
}

extension WebPushSubscription {
  fileprivate init?(_ body: WebPushRequest, _ allowsEndpoint: ((String) -> Bool)?, _ values: inout FieldValues) {
    guard let subscription = try? Self(endpoint: body.endpoint, p256dh: body.p256dh, auth: body.auth) else {
      for flaw in Self.flaws(endpoint: body.endpoint, p256dh: body.p256dh, auth: body.auth) {
        values.add(
          FieldProblem(field: flaw.field, code: ProblemCode.invalidField.rawValue, detail: flaw.detail))
      }
      return nil
    }
    guard allowsEndpoint?(subscription.endpoint) ?? true else {
      values.add(
        FieldProblem(
          field: Flaw.endpoint.field, code: ProblemCode.pushEndpointNotAllowed.rawValue,
          detail: "This server does not send messages to the host or path of webPush.endpoint."))
      return nil
    }
    self = subscription
  }
}

extension WebPushSubscription.Flaw {
  fileprivate var field: String {
    switch self {
    case .endpoint: "/webPush/endpoint"
    case .publicKey: "/webPush/p256dh"
    case .secret: "/webPush/auth"
    }
  }

  fileprivate var detail: String {
    switch self {
    case .endpoint:
      """
      webPush.endpoint must be an https URL of at most \(Limits.webPushEndpointBytes) bytes, without a user, a port or a \
      fragment.
      """
    case .publicKey:
      """
      webPush.p256dh must be an uncompressed point of P-256 (\(WebPushSubscription.publicKeyBytes) bytes) in base64url \
      without padding.
      """
    case .secret:
      "webPush.auth must be \(WebPushSubscription.secretBytes) bytes in base64url without padding."
    }
  }
}

extension Device {
  init(_ id: DeviceID, _ description: DeviceDescription, _ revision: LogPosition) {
    self.init(
      id: id, name: description.name, type: description.type, osVersion: description.osVersion,
      pushProviders: description.tokens.map(\.provider.name), notifications: description.notifications.name,
      apnsEnvironment: description.apnsEnvironment?.name, language: description.language,
      roomChanges: description.roomChanges, position: revision, revision: revision)
  }
}
