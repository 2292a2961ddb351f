import ChatPrimitives

/// The notices that a stream has not taken yet: the newest one of each user and room.
struct PendingNotices: Sendable {
  private enum Key: Hashable {
    case typing(RoomID, UserID)
    case presence(UserID)

    init(_ notice: LiveNotice) {
      switch notice {
      case .typing(let notice): self = .typing(notice.room, notice.user)
      case .presence(let notice): self = .presence(notice.user)
      }
    }
  }

  private var order: [Key] = []
  private var notices: [Key: LiveNotice] = [:]

  var isEmpty: Bool { order.isEmpty }

  /// A notice of another user or room is dropped if there are `Limits.pendingNotices` already.
  mutating func add(_ notice: LiveNotice) {
    let key = Key(notice)
    if notices[key] == nil {
      guard order.count < Limits.pendingNotices else { return }
      order.append(key)
    }
    notices[key] = notice
  }

  /// Removes and returns the notices, in the order in which their users and rooms came.
  mutating func takeAll() -> [LiveNotice] {
    defer { self = PendingNotices() }
    return order.compactMap { notices[$0] }
  }
}
