import NIOCore
import Testing

@testable import ChatServer

@Suite("Where a request comes from")
struct NetworkAddressSpecs {
  private func address(_ text: String) throws -> NetworkAddress { try #require(NetworkAddress(text)) }
  private func proxies(_ texts: String...) throws -> TrustedProxies {
    TrustedProxies(try texts.map { try #require(NetworkRange($0)) })
  }

  @Test(
    "an address is read in every form that proxies write",
    arguments: [
      ("10.1.2.3", "10.1.2.3"), ("10.1.2.3:4567", "10.1.2.3"), ("::ffff:10.1.2.3", "10.1.2.3"),
      ("2001:DB8::1", "2001:db8:0:0::1"), ("[2001:db8::1]", "2001:db8::1"), ("[2001:db8::1]:443", "2001:db8::1"),
    ])
  func forms(text: String, same: String) throws {
    #expect(try address(text) == address(same))
  }

  @Test(
    "an address is written so that it can be read again",
    arguments: [
      ("10.1.2.3", "10.1.2.3"), ("255.255.255.255", "255.255.255.255"), ("2001:db8::1:ffff", "2001:db8:0:0:0:0:1:ffff"),
    ])
  func text(text: String, written: String) throws {
    #expect(try address(text).description == written)
    #expect(try address(written) == address(text))
  }

  @Test(
    "invalid addresses are refused",
    arguments: ["", "unknown", "_hidden", "10.1.2", "10.1.2.3.4", "1.2.3.256", "::g", "[::1"])
  func none(text: String) {
    #expect(NetworkAddress(text) == nil)
  }

  @Test("an address of a socket is the same as its text", arguments: ["192.0.2.7", "2001:db8::7"])
  func ofSocket(text: String) throws {
    #expect(NetworkAddress(try SocketAddress(ipAddress: text, port: 80)) == (try address(text)))
  }

  @Test("a network of version 6 counts as one, an address of version 4 by itself")
  func networks() throws {
    #expect(try address("2001:db8:1:2::1").network == address("2001:db8:1:2:ffff::9").network)
    #expect(try address("2001:db8:1:2::1").network != address("2001:db8:1:3::1").network)
    #expect(try address("10.0.0.1").network != address("10.0.0.2").network)
  }

  @Test(
    "a range holds what it says",
    arguments: [
      ("10.0.0.0/8", "10.255.255.255", true), ("10.0.0.0/8", "11.0.0.0", false), ("10.0.0.7", "10.0.0.7", true),
      ("10.0.0.7", "10.0.0.8", false), ("0.0.0.0/0", "203.0.113.9", true), ("0.0.0.0/0", "2001:db8::1", false),
      ("fd00::/8", "fdff::1", true), ("fd00::/8", "fe00::1", false), ("::/0", "10.0.0.1", true),
      ("192.168.1.128/25", "192.168.1.127", false), ("192.168.1.128/25", "192.168.1.128", true),
    ])
  func ranges(range: String, text: String, isInside: Bool) throws {
    #expect(try #require(NetworkRange(range)).contains(address(text)) == isInside)
  }

  @Test(
    "invalid ranges are refused",
    arguments: ["", "10.0.0.0/33", "10.0.0.0/-1", "fd00::/129", "10.0.0.0/8/8", "x/8", "10.0.0.0/"])
  func noRange(text: String) {
    #expect(NetworkRange(text) == nil)
  }

  @Test("without trusted proxies the connection counts, whatever the header says")
  func untrusted() throws {
    let peer = try address("203.0.113.1")
    #expect(try proxies().client(peer: peer, forwardedFor: "198.51.100.1") == peer)
    #expect(try proxies("10.0.0.0/8").client(peer: peer, forwardedFor: "198.51.100.1") == peer)
  }

  @Test(
    "behind trusted proxies, the last address that is none of theirs counts",
    arguments: [
      ("198.51.100.1", "198.51.100.1"), ("1.1.1.1, 198.51.100.1", "198.51.100.1"),
      ("1.1.1.1,198.51.100.1, 10.0.0.9", "198.51.100.1"), ("10.0.0.8, 10.0.0.9", "10.0.0.8"),
      ("1.1.1.1, nonsense, 10.0.0.9", "10.0.0.9"), ("nonsense", "10.0.0.1"), ("", "10.0.0.1"),
      (" 198.51.100.1:99 ", "198.51.100.1"),
    ])
  func forwarded(header: String, client: String) throws {
    let found = try proxies("10.0.0.0/8").client(peer: address("10.0.0.1"), forwardedFor: header)
    #expect(try found == address(client))
  }
}
