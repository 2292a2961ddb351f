import Synchronization

/// Binds commands of which each is good only after the one before it: once one could not be decided, the writer decides
/// none that follow.
package final class CommandOrder: Sendable {
  private let broken = Atomic(false)

  package init() {}

  package var isBroken: Bool { broken.load(ordering: .acquiring) }

  func breakOff() { broken.store(true, ordering: .releasing) }
}
