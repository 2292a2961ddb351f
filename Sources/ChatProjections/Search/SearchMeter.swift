import Synchronization

/// What a search has cost up to now, as `SearchQueries.pageCost` counts. Whoever asked can read it at any time, also when
/// the search fails or is cancelled.
package final class SearchMeter: Sendable {
  private let cost = Atomic(0)

  package init() {}

  package var spent: Int { cost.load(ordering: .relaxed) }

  package func charge(_ looks: Int) { cost.add(looks, ordering: .relaxed) }
}
