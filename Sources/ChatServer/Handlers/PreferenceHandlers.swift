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
    self.init(
      sharesReadMarkers: body.sharesReadMarkers, acceptsDirectMessages: body.acceptsDirectMessages,
      sharesPresence: body.sharesPresence,
      notifications: try body.notifications.map { try NotificationLevel($0, field: "notifications") },
      mutedKinds: try body.mutedKinds.map { AlertKinds(try $0.map { try AlertKind($0, field: "mutedKinds") }) },
      quietHours: try body.quietHours.map { (request) -> QuietHoursEdit in
        try request.map { .set(try QuietHours($0.body)) } ?? .remove
      },
      showsPreviews: body.showsPreviews,
      directRooms: try body.directRooms.map { try ContactRule($0, field: "directRooms") },
      groupAdditions: try body.groupAdditions.map { try ContactRule($0, field: "groupAdditions") })
  }
}

extension QuietHours {
  /// Checks that the time zone exists. The domain cannot, because the answer depends on the machine's data.
  fileprivate init(_ body: QuietHoursRequest) throws {
    guard let from = TimeOfDay(body.from) else { throw Self.invalidTime("from") }
    guard let to = TimeOfDay(body.to) else { throw Self.invalidTime("to") }
    guard body.timeZone.utf8.count <= Limits.timeZoneBytes, TimeZone(identifier: body.timeZone) != nil else {
      throw Refusal.invalidField(
        "quietHours.timeZone must be an IANA name such as Europe/Berlin.", at: "/quietHours/timeZone")
    }
    self.init(from: from, to: to, timeZone: body.timeZone)
  }

  private static func invalidTime(_ field: String) -> Refusal {
    .invalidField("quietHours.\(field) must be a time from 00:00 to 23:59, as HH:MM.", at: "/quietHours/\(field)")
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
