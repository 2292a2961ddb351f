/// The address on which the server listens: `HOST:PORT`, with an IPv6 host in brackets. Port 0 selects a free port.
struct ListenAddress: Sendable, Hashable, CustomStringConvertible {
  static let `default` = ListenAddress(host: "127.0.0.1", port: 8080)

  let host: String
  let port: Int

  private init(host: String, port: Int) {
    self.host = host
    self.port = port
  }

  init?(_ text: String) {
    guard let colon = text.lastIndex(of: ":"), let port = Int(text[text.index(after: colon)...]),
      (0...65_535).contains(port)
    else { return nil }
    var host = text[..<colon]
    if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
    guard !host.isEmpty else { return nil }
    self.init(host: String(host), port: port)
  }

  var description: String { authority(port: port) }

  /// The host and port as written in a URL.
  func authority(port: Int) -> String {
    host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
  }
}
