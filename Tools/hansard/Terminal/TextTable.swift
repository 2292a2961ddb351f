/// Rows under a line of titles, aligned by columns; wide characters count as two. The columns only ever grow, so that
/// rows can be printed while later ones are still being read.
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

  /// Between two columns.
  private static let gap = "  "
  /// What the last column gets at least when rows are cut, in columns of the terminal.
  private static let leastLastWidth = 24

  private let columns: [Column]
  private var widths: [Int]

  init(_ columns: [Column]) {
    self.columns = columns
    widths = columns.map { TextColumns.width(of: $0.title) }
  }

  /// Makes room for rows that come next.
  mutating func widen(for rows: [[String]]) {
    for row in rows {
      for (index, cell) in zip(widths.indices, row) { widths[index] = max(widths[index], TextColumns.width(of: cell)) }
    }
  }

  func titles() -> String { line(columns.map(\.title)) }

  /// One row.
  /// - Parameter limit: the terminal's width, to which the last cell is cut; nil leaves it whole.
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

  /// Where the last column begins.
  private var lastStart: Int { widths.dropLast().reduce(0, +) + Self.gap.count * (widths.count - 1) }

  /// A whole table at once.
  static func lines(_ columns: [Column], _ rows: [[String]], limit: Int? = nil) -> [String] {
    var table = TextTable(columns)
    table.widen(for: rows)
    return [table.titles()] + rows.map { table.line($0, limit: limit) }
  }
}
