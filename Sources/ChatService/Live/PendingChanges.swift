import ChatPrimitives

/// What happened that a stream has not taken yet.
struct PendingChanges: Sendable, Hashable {
  /// The stream has read everything up to here, or was told to.
  private(set) var told: LogPosition
  /// The newest change that was not taken.
  private var changed: LogPosition?
  /// Everything that concerns the user after what was taken before, up to `changed`. Empty if the stream has to read it.
  private var pages: [LivePage] = []

  init(since: LogPosition) {
    told = since
  }

  var isEmpty: Bool { changed == nil }

  /// Adds what happened up to a position, unless the stream was told before.
  /// - Parameter content: all that concerns the user after the last change that was added. Nil if the stream has to read
  ///   it.
  mutating func add(through position: LogPosition, _ content: LiveContent?) {
    guard position > told else { return }
    if let content, changed == nil || !pages.isEmpty, pages.count < Limits.livePagesOfStream {
      pages.append(LivePage(after: told, through: position, content: content))
    } else {
      pages = []
    }
    told = position
    changed = position
  }

  mutating func take() -> LiveSignal? {
    guard let position = changed else { return nil }
    defer { (changed, pages) = (nil, []) }
    return pages.isEmpty ? .changed(through: position) : .supplied(pages)
  }
}
