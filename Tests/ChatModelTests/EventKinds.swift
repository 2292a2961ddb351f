import ChatDomain
import EventStore

/// The kinds of events, by name.
enum EventKinds {
  static func name(of event: ChatEvent) -> String { EventKind(of: event)?.name ?? "erased" }

  /// All kinds except those of deleted accounts and of hidden rooms, which the model does not have: `test_delete_account.py`
  /// and `test_hidden_rooms.py` have them; and the one that only earlier versions recorded. The tests must produce each
  /// of the others.
  static let all = Set(EventKind.all.map(\.name)).subtracting([
    "user.deleted", "user.erased", "legal-hold.placed", "legal-hold.lifted", "room.hidden", "room.shown",
    "push-token.moved",
  ])
}
