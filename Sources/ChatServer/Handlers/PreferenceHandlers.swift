import ChatDomain
import ChatPrimitives
import ChatProtocol
import ChatService
import Foundation
import Hummingbird

import struct ChatDomain.QuietHours

/// A user's own preferences.
struct PreferenceHandlers: Sendable {
  let chat: ChatService

  func get(_ context: HansardRequestContext) async throws -> TypedResponse<Preferences> {
    let preferences = try await chat.preferences(of: context.user)
    return try JSONBody.response(Preferences(preferences))
  }

  func update(
    _ context: HansardRequestContext, _ body: TypedBody<UpdatePreferencesRequest>
  ) async throws -> TypedResponse<PreferencesReceipt> {
    let edit = try PreferencesEdit(await body.decoded())
    guard !edit.isEmpty else {
      let names = UpdatePreferencesRequest.CodingKeys.allCases.map(\.stringValue).joined(separator: ", ")
      throw Refusal.invalidField("Send at least one of \(names).")
    }
    let outcome = try await chat.setPreferences(edit, by: context.actor, command: context.command())
    var preferences = try await chat.preferences(of: context.user)
    preferences.apply(edit)
    return try JSONBody.receipt(
      outcome.result, PreferencesReceipt(Preferences(preferences), position: outcome.stamp.position))
  }
}

extension PreferencesEdit {
  fileprivate init(_ body: UpdatePreferencesRequest) throws {
    var values = FieldValues()
    let notifications = try body.notifications.flatMap { name in
      try values.value { try NotificationLevel(name, field: "notifications") }
    }
    let mutedKinds = try body.mutedKinds.flatMap { names in
      try values.value { AlertKinds(try names.map { try AlertKind($0, field: "mutedKinds") }) }
    }
    let quietHours = try body.quietHours.flatMap { (request) -> QuietHoursEdit? in
      guard let request else { return QuietHoursEdit.remove }
      return try QuietHours(request.body, &values).map { .set($0) }
    }
    let directRooms = try body.directRooms.flatMap { name in
      try values.value { try ContactRule(name, field: "directRooms") }
    }
    let groupAdditions = try body.groupAdditions.flatMap { name in
      try values.value { try ContactRule(name, field: "groupAdditions") }
    }
    try values.requireNone()
    self.init(
      sharesReadMarkers: body.sharesReadMarkers, acceptsDirectMessages: body.acceptsDirectMessages,
      sharesPresence: body.sharesPresence, notifications: notifications, mutedKinds: mutedKinds, quietHours: quietHours,
      showsPreviews: body.showsPreviews, directRooms: directRooms, groupAdditions: groupAdditions)
  }
}

extension QuietHours {
  /// Checks that the time zone exists. The domain cannot, because the answer depends on the machine's data.
  fileprivate init?(_ body: QuietHoursRequest, _ values: inout FieldValues) throws {
    let from = try values.value { try Self.time(body.from, "from") }
    let to = try values.value { try Self.time(body.to, "to") }
    let timeZone = try values.value { try Self.timeZone(body.timeZone) }
    guard let from, let to, let timeZone else { return nil }
    self.init(from: from, to: to, timeZone: timeZone)
  }

  private static func timeZone(_ name: String) throws -> String {
    guard name.utf8.count <= Limits.timeZoneBytes, TimeZone(identifier: name) != nil else {
      throw Refusal.invalidField(
        "quietHours.timeZone must be an IANA name such as Europe/Berlin.", at: "/quietHours/timeZone")
    }
    return name
  }

  private static func time(_ text: String, _ field: String) throws -> TimeOfDay {
    guard let time = TimeOfDay(text) else {
      throw Refusal.invalidField(
        "quietHours.\(field) must be a time from 00:00 to 23:59, as HH:MM.", at: "/quietHours/\(field)")
    }
    return time
  }
}

extension Preferences {
  init(_ preferences: UserPreferences) {
    self.init(
      sharesReadMarkers: preferences.sharesReadMarkers, acceptsDirectMessages: preferences.acceptsDirectMessages,
      sharesPresence: preferences.sharesPresence, notifications: preferences.notifications.name,
      mutedKinds: preferences.mutedKinds.kinds.map(\.name),
      quietHours: preferences.quietHours.map {
        ChatProtocol.QuietHours(from: $0.from.text, to: $0.to.text, timeZone: $0.timeZone)
      }, showsPreviews: preferences.showsPreviews, directRooms: preferences.contacts.directRooms.name,
      groupAdditions: preferences.contacts.groupAdditions.name)
  }
}
