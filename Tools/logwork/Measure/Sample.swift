import Foundation

/// Measured values of one kind, sorted.
struct Sample {
  private let sorted: [Double]

  /// - Parameter values: At least one value.
  init(_ values: [Double]) {
    precondition(!values.isEmpty, "nothing was measured")
    sorted = values.sorted()
  }

  var median: Double { quantile(0.5) }
  var p99: Double { quantile(0.99) }

  /// The value below which the given share of all values lies.
  private func quantile(_ share: Double) -> Double {
    sorted[min(sorted.count - 1, Int(Double(sorted.count) * share))]
  }
}

/// Prints a report as one JSON object on one line, with its fields in alphabetical order.
func printReport(_ report: some Encodable) throws {
  let encoder = JSONEncoder()
  encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
  FileHandle.standardOutput.write(try encoder.encode(report) + Data("\n".utf8))
}
