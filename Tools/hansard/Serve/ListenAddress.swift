/// Where the server listens: `HOST:PORT`, an IPv6 host in brackets. Port 0 takes a free one.
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

  /// As it is written in a URL.
  func authority(port: Int) -> String {
    host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
  }
}
