/// Where metrics are served.
struct MetricsSettings: Sendable {
  static let defaultHost = "127.0.0.1"
  /// Switches metrics off.
  private static let noPort = 0

  let host: String
  /// Nil if metrics are off.
  let port: Int?

  init(_ reader: inout SettingReader) {
    host =
      reader.text(
        "metrics.host", default: Self.defaultHost, "the address on which `/metrics` is served; see `metrics.md`")
      ?? Self.defaultHost
    let port = reader.integer(
      "metrics.port", default: Self.noPort, in: Self.noPort...65_535,
      "the port on which `/metrics` is served; 0 switches metrics off")
    self.port = port == Self.noPort ? nil : port
  }
}
