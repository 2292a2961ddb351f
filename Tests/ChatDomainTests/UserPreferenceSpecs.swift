import ChatDomain
import ChatPrimitives
import Testing

@Suite("Preferences for notifications")
struct UserPreferenceSpecs {
  private func setting(_ edit: PreferencesEdit) -> UserCommand { .account(.setPreferences(edit)) }

  @Test("are set one by one, and quiet hours can be removed")
  func sets() {
    let night = QuietHours.atNight()
    let edits = [
      PreferencesEdit(notifications: .mentions), PreferencesEdit(mutedKinds: [.reaction, .added]),
      PreferencesEdit(quietHours: .set(night)), PreferencesEdit(showsPreviews: false),
      PreferencesEdit(directRooms: .known), PreferencesEdit(groupAdditions: .nobody),
    ]
    let events = aliceAtHome + edits.map { .account(.preferencesSet($0)) }
    #expect(
      preferences(after: events)
        == UserPreferences(
          notifications: .mentions, mutedKinds: [.added, .reaction], quietHours: night, showsPreviews: false,
          contacts: ContactRules(directRooms: .known, groupAdditions: .nobody)))
    let removal = UserEvent.account(.preferencesSet(PreferencesEdit(mutedKinds: [], quietHours: .remove)))
    #expect(
      preferences(after: events + [removal])
        == UserPreferences(
          notifications: .mentions, showsPreviews: false,
          contacts: ContactRules(directRooms: .known, groupAdditions: .nobody)))
    for edit in edits {
      given(UserDecider.self, aliceAtHome).when(setting(edit), by: .user(alice))
        .thenRecorded(.account(.preferencesSet(edit)))
      given(UserDecider.self, aliceAtHome).when(setting(edit), by: .user(bob)).thenRejected(.forbidden)
    }
  }

  @Test(
    "quiet hours begin and end at different times, in a time zone whose name has the form of one",
    arguments: [
      ("22:00", "07:00", "Europe/Berlin", true), ("00:00", "23:59", "UTC", true),
      ("07:00", "22:00", "America/Argentina/Buenos_Aires", true), ("07:00", "22:00", "Etc/GMT+1", true),
      ("07:00", "07:00", "UTC", false), ("07:00", "22:00", "", false), ("07:00", "22:00", "/UTC", false),
      ("07:00", "22:00", "Europe/", false), ("07:00", "22:00", "../etc/passwd", false),
      ("07:00", "22:00", "Europe/Bérlin", false), ("07:00", "22:00", "Europe Berlin", false),
      ("07:00", "22:00", String(repeating: "z", count: 64), true),
      ("07:00", "22:00", String(repeating: "z", count: 65), false),
    ])
  func quietHours(from: String, to: String, zone: String, isAccepted: Bool) {
    let edit = PreferencesEdit(quietHours: .set(.atNight(from: from, to: to, in: zone)))
    let outcome = given(UserDecider.self, aliceAtHome).when(setting(edit), by: .user(alice))
    if isAccepted { outcome.thenAccepted() } else { outcome.thenRejected(.quietHoursMalformed) }
  }

  @Test("a time of day is HH:MM")
  func timeOfDay() {
    for minutes in UInt16(0)..<1440 {
      let time = TimeOfDay(minutes: minutes)
      #expect(time.flatMap { TimeOfDay($0.text) } == time && time != nil)
    }
    #expect(TimeOfDay("09:05")?.minutes == 545 && TimeOfDay(minutes: 545)?.text == "09:05")
    #expect(TimeOfDay(minutes: 1440) == nil)
    for text in ["24:00", "12:60", "9:05", "09:5", "09-05", "09:05 ", "٠٩:٠٥", "-1:00", "+9:00", "", "09:05:00"] {
      #expect(TimeOfDay(text) == nil)
    }
  }

  @Test("every set of kinds is stored in its bits")
  func kinds() {
    for bits in UInt8(0)..<128 {
      let kinds = AlertKinds(bits: bits)
      #expect(AlertKinds(kinds.kinds) == kinds)
      #expect(AlertKind.allCases.allSatisfy { kinds.contains($0) == kinds.kinds.contains($0) })
    }
    #expect(AlertKinds([.message, .message]).kinds == [.message])
  }

  @Test("a change of older preferences has the fingerprint that it had before the newer ones existed")
  func fingerprints() {
    #expect(
      setting(PreferencesEdit(sharesReadMarkers: false)).fingerprint(by: alice)
        == Fingerprint(.text("preferences.set"), .number(0)))
    #expect(
      setting(PreferencesEdit(sharesPresence: true)).fingerprint(by: alice)
        == Fingerprint(.text("preferences.set"), .number(nil), .number(nil), .number(1)))
  }

  private func preferences(after events: [UserEvent]) -> UserPreferences? {
    guard case .registered(let user) = given(UserDecider.self, events).state else { return nil }
    return user.preferences
  }
}
