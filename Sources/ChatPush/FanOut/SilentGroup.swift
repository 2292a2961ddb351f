import ChatDomain
package import ChatPrimitives

/// Silent notifications of which a device needs only the newest: those of one kind in one room. An `update` or a `sent`
/// clears the notifications of a room, a thread or a deleted message, so each of these has a group of its own. An `update`
/// that clears none of them must not replace one that does.
package struct SilentGroup: Sendable, Hashable {
  package let kind: PushKind
  private let room: RoomID?
  private let thread: MessageID?
  private let message: MessageID?
  private let clears: Bool

  /// Nil for a kind that shows something.
  /// - Parameters:
  ///   - thread: the root of the thread in which the user read or wrote.
  ///   - message: the message that the event is about.
  ///   - clears: whether the notification names a message up to which notifications are cleared.
  package init?(_ kind: PushKind, room: RoomID?, thread: MessageID?, message: MessageID?, clears: Bool) {
    guard kind.alert == nil else { return nil }
    self.kind = kind
    self.room = room
    self.thread = kind == .roomChange ? nil : thread
    // Of the updates, only those after a deletion name a message.
    self.message = kind == .update ? message : nil
    self.clears = kind == .update ? clears : true
  }

  /// The ID with which providers replace an older notification of the group that has not reached the device. At most 64
  /// bytes.
  var collapseID: String {
    if let message { return "\(kind.name).deleted.\(message)" }
    if let thread { return "\(kind.name).thread.\(thread)" }
    return Self.collapseID(clears ? kind.name : "\(kind.name).other", of: room)
  }

  /// The ID that all silent notifications of one name in one room share.
  static func collapseID(_ name: String, of room: RoomID?) -> String { room.map { "\(name).\($0)" } ?? name }
}
