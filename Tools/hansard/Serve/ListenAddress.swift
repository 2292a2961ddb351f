import ArgumentParser

/// Where the server listens: `HOST:PORT`, an IPv6 host in brackets. Port 0 takes a free one.
struct ListenAddress: ExpressibleByArgument, Sendable {
  static let environmentName = "HANSARD_LISTEN"
  static let usual = "127.0.0.1:8080"

  let host: String
  let port: Int

  init?(argument: String) {
    guard let colon = argument.lastIndex(of: ":"), let port = Int(argument[argument.index(after: colon)...]),
      (0...65_535).contains(port)
    else { return nil }
    var host = argument[..<colon]
    if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
    guard !host.isEmpty else { return nil }
    self.host = String(host)
    self.port = port
  }

  /// As it stands in a URL.
  func authority(port: Int) -> String {
    host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
  }
}
