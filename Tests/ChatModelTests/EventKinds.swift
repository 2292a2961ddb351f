import ChatDomain
import EventStore

/// The kinds of events, by their names.
enum EventKinds {
  static func name(of event: ChatEvent) -> String { EventKind(of: event)?.name ?? "erased" }

  /// All of them must come up.
  static let all = Set(EventKind.all.map(\.name))
}
