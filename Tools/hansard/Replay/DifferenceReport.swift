import ChatProjections

/// The lines that report how one read model compares with the log.
struct DifferenceReport {
  private let report: VerificationReport
  private let pace: String

  init(_ report: VerificationReport, pace: String) {
    self.report = report
    self.pace = pace
  }

  var lines: [String] {
    let rows = report.rowsByTable.values.reduce(0, +)
    let compared = "\(Quantity.count(rows)) rows of \(report.rowsByTable.count) tables at position \(report.position)"
    guard !report.isEqual else { return ["\(report.projection): equal, \(compared), \(pace)"] }
    let count = report.differenceCount
    let differing = count == 1 ? "1 row differs" : "\(Quantity.count(count)) rows differ"
    var lines = ["\(report.projection): \(differing), \(compared), \(pace)"]
    lines += TextTable.lines(
      [.left("TABLE"), .left("ROW"), .left("COLUMN"), .left("LIVE"), .left("REBUILT")],
      report.differences.flatMap(Self.rows))
    let hidden = count - report.differences.count
    if hidden > 0 { lines.append("and \(Quantity.count(hidden)) more") }
    return lines
  }

  private static func rows(_ difference: RowDifference) -> [[String]] {
    let row = [difference.table, TextColumns.visible(difference.key)]
    switch difference.kind {
    case .missing: return [row + ["(whole row)", "missing", "present"]]
    case .unexpected: return [row + ["(whole row)", "present", "missing"]]
    case .changed(let columns):
      return columns.map { row + [$0.column, TextColumns.visible($0.live), TextColumns.visible($0.rebuilt)] }
    }
  }
}
