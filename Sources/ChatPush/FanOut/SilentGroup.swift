import ChatDomain
package import ChatPrimitives

/// Silent notifications of which a device needs only the newest: those of one kind in one room. An `update` or a `sent`
/// clears the notifications of a room, a thread or a deleted message, so each of these has a group of its own. An `update`
/// that clears none of them must not replace one that does. Quiet alerts only set the badge, so those of one kind in one room
/// are a group.
package struct SilentGroup: Sendable, Hashable {
  package let kind: PushKind
  private let room: RoomID?
  private let thread: MessageID?
  private let message: MessageID?
  private let clears: Bool

  /// Nil if the notification shows something.
  /// - Parameters:
  ///   - isQuiet: whether an alert shows nothing, because of the user's quiet hours.
  ///   - thread: the root of the thread in which the user read or wrote.
  ///   - message: the message that the event is about.
  ///   - clears: whether the notification names a message up to which notifications are cleared.
  package init?(
    _ kind: PushKind, isQuiet: Bool = false, room: RoomID?, thread: MessageID?, message: MessageID?, clears: Bool
  ) {
    guard kind.alert == nil || isQuiet else { return nil }
    self.kind = kind
    self.room = room
    self.thread = kind == .update || kind == .sent ? thread : nil
    // Of the updates, only those after a deletion name a message.
    self.message = kind == .update ? message : nil
    self.clears = kind == .update ? clears : true
  }

  /// The ID with which providers replace an older notification of the group that has not reached the device. At most 64
  /// bytes.
  var collapseID: String {
    if let message { return "\(kind.name).deleted.\(message)" }
    if let thread { return "\(kind.name).thread.\(thread)" }
    let name = clears ? kind.name : "\(kind.name).other"
    return room.map { "\(name).\($0)" } ?? name
  }
}
