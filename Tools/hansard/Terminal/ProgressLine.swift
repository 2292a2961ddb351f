/// The text of a progress bar.
struct ProgressLine {
  enum Unit: Sendable {
    case bytes
    /// The name of the items, in the plural.
    case items(String)
  }

  let label: String
  let done: UInt64
  /// Nil if it is not known.
  let total: UInt64?
  let seconds: Double
  let unit: Unit
  /// A text that replaces the rate.
  let note: String?

  /// The width of the bar itself, in columns.
  private static let barColumns = 24
  /// Earlier than this, an estimate of the remaining time would be meaningless.
  private static let secondsBeforeEstimate = 1.0

  var text: String {
    var parts = [label]
    if let total, total > 0 {
      let share = min(1, Double(done) / Double(total))
      let full = Int(share * Double(Self.barColumns))
      let bar = String(repeating: "#", count: full) + String(repeating: ".", count: Self.barColumns - full)
      parts.append("[\(bar)] \(Quantity.decimal((share * 100).rounded(.down), digits: 0)) %")
    }
    parts.append(amount)
    if let note { parts.append(note) } else if seconds > 0 { parts.append(rate) }
    if let left { parts.append("\(left) left") }
    return parts.joined(separator: "  ")
  }

  private var amount: String {
    switch unit {
    case .bytes: total.map { "\(Quantity.bytes(done)) of \(Quantity.bytes($0))" } ?? Quantity.bytes(done)
    case .items(let name):
      total.map { "\(Quantity.count(done)) of \(Quantity.count($0)) \(name)" } ?? "\(Quantity.count(done)) \(name)"
    }
  }

  private var rate: String {
    let perSecond = UInt64(max(0, min(Double(done) / seconds, 1e15)))
    return switch unit {
    case .bytes: "\(Quantity.bytes(perSecond))/s"
    case .items: "\(Quantity.count(perSecond))/s"
    }
  }

  private var left: String? {
    guard let total, done > 0, done < total, seconds >= Self.secondsBeforeEstimate else { return nil }
    return Quantity.seconds((Double(total - done) / Double(done) * seconds).rounded(.up))
  }
}
