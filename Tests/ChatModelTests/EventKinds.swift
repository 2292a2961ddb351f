import ChatDomain
import EventStore

/// The kinds of events, by name.
enum EventKinds {
  static func name(of event: ChatEvent) -> String { EventKind(of: event)?.name ?? "erased" }

  /// All kinds except those of deleted accounts, which the model does not have: `test_delete_account.py` has them. The
  /// tests must produce each of them.
  static let all = Set(EventKind.all.map(\.name)).subtracting([
    "user.deleted", "user.erased", "legal-hold.placed", "legal-hold.lifted",
  ])
}
