import Synchronization

/// The cost of a search so far, in the unit of `SearchQueries.pageCost`. It can be read at any time, even after the
/// search failed or was cancelled.
package final class SearchMeter: Sendable {
  private let cost = Atomic(0)

  package init() {}

  package var spent: Int { cost.load(ordering: .relaxed) }

  package func charge(_ amount: Int) { cost.add(amount, ordering: .relaxed) }
}
