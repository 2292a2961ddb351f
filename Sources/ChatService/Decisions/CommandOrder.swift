import Synchronization

/// Connects commands that must be decided in sequence: after one cannot be decided, the writer decides none of those
/// that follow.
package final class CommandOrder: Sendable {
  private let broken = Atomic(false)

  package init() {}

  package var isBroken: Bool { broken.load(ordering: .acquiring) }

  func markBroken() { broken.store(true, ordering: .releasing) }
}
