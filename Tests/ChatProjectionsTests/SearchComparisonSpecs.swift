import Testing

@testable import ChatProjections

@Suite("How the tables of the search are compared")
struct SearchComparisonSpecs {
  @Test("the words of a shard are compared without those of texts in its own positions that are erased")
  func words() throws {
    guard case .selected(let query, key: 2) = SearchProjection.comparison(of: "term_3") else {
      Issue.record("not selected by a query")
      return
    }
    #expect(query.contains("FROM term_3"))
    #expect(query.contains("position BETWEEN \(3 << 16) AND \((4 << 16) - 1)"))
  }

  @Test("the tables of FTS5 itself are not compared", arguments: ["text_3", "text_3_data", "term_", "erasure"])
  func others(table: String) {
    guard case .none = SearchProjection.comparison(of: table) else {
      Issue.record("\(table) is compared")
      return
    }
  }
}
