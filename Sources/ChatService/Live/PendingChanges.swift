import ChatPrimitives

/// The changes that a stream has not taken yet.
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
    if let content, changed == nil || !pages.isEmpty, fits(content) {
      pages.append(LivePage(after: told, through: position, content: content))
    } else {
      pages = []
    }
    told = position
    changed = position
  }

  /// Whether the pages stay few and short. If not, a read makes one page of them.
  private func fits(_ content: LiveContent) -> Bool {
    let items = pages.reduce(content.items.count) { $0 + $1.content.items.count }
    return pages.count < Limits.livePagesOfStream && items <= Limits.syncDefaultItems
  }

  mutating func take() -> LiveSignal? {
    guard let position = changed else { return nil }
    defer { (changed, pages) = (nil, []) }
    return pages.isEmpty ? .changed(through: position) : .supplied(pages)
  }
}
