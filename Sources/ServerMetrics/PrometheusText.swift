/// Prometheus' text format: <https://prometheus.io/docs/instrumenting/exposition_formats/>.
struct PrometheusText {
  static let contentType = "text/plain; version=0.0.4; charset=utf-8"

  private(set) var text = ""
  private var lastName = ""

  /// Call it in the order of the names.
  mutating func add(_ key: PrometheusFactory.Key, _ value: PrometheusFactory.Value, _ series: MetricSeries?) {
    if series?.hidesUnused == true, value.isUnused { return }
    if key.name != lastName {
      lastName = key.name
      if let series { text += "# HELP \(key.name) \(Self.escaped(series.help))\n" }
      text += "# TYPE \(key.name) \(value.type)\n"
    }
    switch value {
    case .count(let count): line(key.name, key.labels, "\(count.value)")
    case .total(let number), .gauge(let number): line(key.name, key.labels, Self.number(number.value))
    case .distribution(let distribution): add(key, distribution)
    }
  }

  private mutating func add(_ key: PrometheusFactory.Key, _ distribution: Distribution) {
    let separator = key.labels.isEmpty ? "" : ","
    var count: Int64 = 0
    for (index, inBucket) in distribution.counts.enumerated() {
      count += inBucket
      let bound = index < distribution.bounds.count ? Self.number(distribution.bounds[index]) : "+Inf"
      line(key.name + "_bucket", "\(key.labels)\(separator)le=\"\(bound)\"", "\(count)")
    }
    line(key.name + "_sum", key.labels, Self.number(distribution.sum))
    line(key.name + "_count", key.labels, "\(count)")
  }

  private mutating func line(_ name: String, _ labels: String, _ value: String) {
    text += labels.isEmpty ? "\(name) \(value)\n" : "\(name){\(labels)} \(value)\n"
  }

  /// A whole number has no fraction.
  private static func number(_ value: Double) -> String {
    if value.isNaN { return "NaN" }
    if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
    return Int64(exactly: value).map { "\($0)" } ?? "\(value)"
  }

  /// A name has only letters, digits, underscores and colons.
  static func name(_ label: String) -> String {
    String(label.map { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_" || $0 == ":") ? $0 : "_" })
  }

  static func labels(_ dimensions: [(String, String)]) -> String {
    dimensions.map { "\(name($0))=\"\(escaped($1, quotes: true))\"" }.joined(separator: ",")
  }

  private static func escaped(_ text: String, quotes: Bool = false) -> String {
    var escaped = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\\": escaped += #"\\"#
      case "\n": escaped += #"\n"#
      case "\"" where quotes: escaped += #"\""#
      default: escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }
}

extension PrometheusFactory.Value {
  fileprivate var type: String {
    switch self {
    case .count, .total: "counter"
    case .gauge: "gauge"
    case .distribution: "histogram"
    }
  }

  fileprivate var isUnused: Bool {
    switch self {
    case .count(let count): count.value == 0
    case .total(let number), .gauge(let number): number.value == 0
    case .distribution(let distribution): distribution.counts.allSatisfy { $0 == 0 }
    }
  }
}
