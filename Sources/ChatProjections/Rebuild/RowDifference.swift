/// A row that differs between the live file and the rebuilt one. Values are prepared for display: bytes in hex, long
/// values truncated, secret ones masked.
package struct RowDifference: Sendable, Hashable, CustomStringConvertible {
  package enum Kind: Sendable, Hashable {
    /// Only the rebuilt file has the row.
    case missing
    /// Only the live file has the row.
    case unexpected
    case changed([ColumnDifference])
  }

  package struct ColumnDifference: Sendable, Hashable {
    package let column: String
    package let live: String
    package let rebuilt: String
  }

  package let table: String
  /// The columns of the primary key with their values.
  package let key: String
  package let kind: Kind

  package var description: String {
    switch kind {
    case .missing: "\(table) [\(key)]: missing from the live file"
    case .unexpected: "\(table) [\(key)]: not in the rebuilt file"
    case .changed(let columns):
      "\(table) [\(key)]: "
        + columns.map { "\($0.column) is \($0.live), rebuilt \($0.rebuilt)" }.joined(separator: "; ")
    }
  }
}
