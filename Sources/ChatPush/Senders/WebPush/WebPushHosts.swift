/// The hosts to which messages may be sent, so that a client cannot make the server send requests to any other.
package struct WebPushHosts: Sendable, Hashable {
  /// The push services of the browsers.
  package static let defaults = [
    "fcm.googleapis.com", "updates.push.services.mozilla.com", ".push.services.mozilla.com", ".notify.windows.com",
    "web.push.apple.com", ".push.apple.com",
  ]

  private let names: Set<String>
  private let suffixes: [String]

  /// - Parameter entries: each is a host, or a suffix such as `.example.org`, which allows every host below
  ///   `example.org`.
  package init(_ entries: [String] = WebPushHosts.defaults) {
    let entries = entries.map { $0.lowercased() }
    names = Set(entries.filter { !$0.hasPrefix(".") })
    suffixes = entries.filter { $0.hasPrefix(".") }
  }

  /// The first entry that no endpoint can match, such as a URL or a host with a port.
  package static func invalidEntry(in entries: [String]) -> String? {
    entries.first { entry in
      let name = entry.hasPrefix(".") ? entry.dropFirst() : entry[...]
      return !isName(String(name)) || !name.lowercased().utf8.allSatisfy(isHostCharacter)
    }
  }

  /// Whether messages may be sent to an endpoint.
  package func allows(_ endpoint: String) -> Bool { origin(of: endpoint) != nil }

  /// The origin of an endpoint (RFC 6454, section 6.2).
  /// - Returns: nil if messages may not be sent there: it is not an `https` URL, has credentials, a fragment or a port,
  ///   is too long, or its host is not in the list.
  func origin(of endpoint: some StringProtocol) -> String? {
    let bytes = Array(endpoint.utf8.prefix(WebPushTarget.endpointBytes + 1))
    guard bytes.count <= WebPushTarget.endpointBytes,
      String(decoding: bytes.prefix(Self.scheme.utf8.count), as: UTF8.self).lowercased() == Self.scheme
    else { return nil }
    // Before the path there is only a host, so that no other parser can find another host in the URL.
    let rest = bytes.dropFirst(Self.scheme.utf8.count)
    let name = rest.prefix { $0 != UInt8(ascii: "/") }
    guard name.allSatisfy({ Self.isHostCharacter($0) || Self.isCapital($0) }),
      Self.isPath(rest.dropFirst(name.count))
    else { return nil }
    let host = String(decoding: name, as: UTF8.self).lowercased()
    return Self.isName(host) && isAllowed(host) ? Self.scheme + host : nil
  }

  /// Whether the host is a valid DNS name (RFC 1123, section 2.1; RFC 1035, section 2.3.4).
  private static func isName(_ host: String) -> Bool {
    host.utf8.count <= hostBytes
      && host.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).allSatisfy { label in
        (1...labelBytes).contains(label.count) && label.first != UInt8(ascii: "-") && label.last != UInt8(ascii: "-")
      }
  }

  private static let hostBytes = 253
  private static let labelBytes = 63

  private static let scheme = "https://"

  private static func isCapital(_ byte: UInt8) -> Bool { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) }

  private func isAllowed(_ host: String) -> Bool {
    names.contains(host) || suffixes.contains { host.hasSuffix($0) && host.utf8.count > $0.utf8.count }
  }

  /// Whether this is an absolute path, perhaps with a query (RFC 3986, sections 3.3 and 3.4).
  private static func isPath(_ bytes: ArraySlice<UInt8>) -> Bool {
    guard bytes.first == UInt8(ascii: "/") else { return false }
    var escaped = 0
    for byte in bytes {
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
        UInt8(ascii: "A")...UInt8(ascii: "F"):
        escaped = max(escaped - 1, 0)
      case _ where escaped > 0: return false
      case UInt8(ascii: "%"): escaped = 2
      case UInt8(ascii: "g")...UInt8(ascii: "z"), UInt8(ascii: "G")...UInt8(ascii: "Z"): continue
      case _ where pathSymbols.contains(byte): continue
      default: return false
      }
    }
    return escaped == 0
  }

  private static let pathSymbols = Set("-._~!$&'()*+,;=:@/?".utf8)

  private static func isHostCharacter(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."),
      UInt8(ascii: "-"):
      true
    default: false
    }
  }
}
