/// Formats rows under a line of titles, in aligned columns. Wide characters count as two. The columns only grow, so
/// that rows can be printed while later ones are still being read.
struct TextTable {
  enum Alignment {
    case left
    case right
  }

  struct Column {
    let title: String
    let alignment: Alignment

    static func left(_ title: String) -> Column { Column(title: title, alignment: .left) }
    static func right(_ title: String) -> Column { Column(title: title, alignment: .right) }
  }

  /// The space between two columns.
  private static let gap = "  "
  /// The minimum width of the last column if rows are cut, in terminal columns.
  private static let leastLastWidth = 24

  private let columns: [Column]
  private var widths: [Int]

  init(_ columns: [Column]) {
    self.columns = columns
    widths = columns.map { TextColumns.width(of: $0.title) }
  }

  /// Widens the columns to fit the next rows.
  mutating func widen(for rows: [[String]]) {
    for row in rows {
      for (index, cell) in zip(widths.indices, row) { widths[index] = max(widths[index], TextColumns.width(of: cell)) }
    }
  }

  func titles() -> String { line(columns.map(\.title)) }

  /// Formats one row.
  /// - Parameter limit: The terminal width at which the last cell is cut. Nil never cuts it.
  func line(_ cells: [String], limit: Int? = nil) -> String {
    var line = ""
    for (index, cell) in zip(columns.indices, cells) {
      if index > 0 { line += Self.gap }
      let isLast = index == columns.count - 1
      var text = cell
      if isLast, let limit { text = TextColumns.shortened(text, to: max(limit - lastStart, Self.leastLastWidth)) }
      let padding = String(repeating: " ", count: max(0, widths[index] - TextColumns.width(of: text)))
      switch columns[index].alignment {
      case .left: line += isLast ? text : text + padding
      case .right: line += padding + text
      }
    }
    return line
  }

  /// The column at which the last cell begins.
  private var lastStart: Int { widths.dropLast().reduce(0, +) + Self.gap.count * (widths.count - 1) }

  /// Formats a whole table.
  static func lines(_ columns: [Column], _ rows: [[String]], limit: Int? = nil) -> [String] {
    var table = TextTable(columns)
    table.widen(for: rows)
    return [table.titles()] + rows.map { table.line($0, limit: limit) }
  }
}
