import Foundation

/// Measured values of one kind, in order of size.
struct Sample {
  private let sorted: [Double]

  /// - Parameter values: at least one.
  init(_ values: [Double]) {
    precondition(!values.isEmpty, "nothing was measured")
    sorted = values.sorted()
  }

  var median: Double { quantile(0.5) }
  var p99: Double { quantile(0.99) }

  /// The value below which a share of all lies.
  private func quantile(_ share: Double) -> Double {
    sorted[min(sorted.count - 1, Int(Double(sorted.count) * share))]
  }
}

/// What a measurement prints: one JSON object on one line, fields in alphabetical order.
func printReport(_ report: some Encodable) throws {
  let encoder = JSONEncoder()
  encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
  FileHandle.standardOutput.write(try encoder.encode(report) + Data("\n".utf8))
}
