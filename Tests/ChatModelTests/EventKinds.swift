import ChatDomain
import EventStore

/// The kinds of events, by name.
enum EventKinds {
  static func name(of event: ChatEvent) -> String { EventKind(of: event)?.name ?? "erased" }

  /// All kinds. The tests must produce each of them.
  static let all = Set(EventKind.all.map(\.name))
}
