package import ChatDomain

/// What a notification is about (decision 0033). The raw values are in the outbox.
package enum PushKind: UInt8, Sendable, Hashable, CaseIterable {
  case message = 1
  case mention = 2
  case reply = 3
  case reminder = 4
  case reaction = 5
  case invitation = 6
  case added = 7
  case sent = 11
  case update = 12
  case roomChange = 13

  /// The first raw value of the kinds that show nothing. Those that show something have lower ones (`KindNumberSpecs`).
  static let firstSilent = allCases.filter { $0.alert == nil }.map(\.rawValue).min() ?? .max

  /// The kind as users know it in their preferences; nil for a kind that shows nothing.
  package var alert: AlertKind? {
    switch self {
    case .message: .message
    case .mention: .mention
    case .reply: .reply
    case .reminder: .reminder
    case .reaction: .reaction
    case .invitation: .invitation
    case .added: .added
    case .sent, .update, .roomChange: nil
    }
  }

  /// What providers and tools see.
  package var name: String {
    switch self {
    case .sent: "sent"
    case .update: "update"
    case .roomChange: "roomChange"
    case .message, .mention, .reply, .reminder, .reaction, .invitation, .added: alert?.name ?? ""
    }
  }

  /// Whether users do not get it if they have blocked the user who caused the event. An update shows nothing of that user.
  package var isWithheldByBlock: Bool { self != .update }

  /// Whether it concerns this user in particular, so that the level `mentions` shows it.
  package var isPersonal: Bool {
    switch self {
    case .mention, .reply, .reminder, .invitation, .added: true
    case .message, .reaction, .sent, .update, .roomChange: false
    }
  }
}
