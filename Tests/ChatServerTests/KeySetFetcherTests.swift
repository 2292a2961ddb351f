import Foundation
import Glibc
import Testing

@testable import ChatServer

@Suite("Fetching an issuer's keys")
struct KeySetFetcherTests {
  /// Sends the head of an answer, and then a byte now and again until nobody reads any more.
  private final class DrippingIssuer: Sendable {
    private static let bytes = 200_000
    let port: UInt16

    init() throws {
      let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_addr.s_addr = UInt32(INADDR_LOOPBACK).bigEndian
      var length = socklen_t(MemoryLayout<sockaddr_in>.size)
      let isBound = withUnsafeMutablePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
          bind(listener, address, length) == 0 && listen(listener, 1) == 0
            && getsockname(listener, address, &length) == 0
        }
      }
      try #require(isBound)
      port = UInt16(bigEndian: address.sin_port)
      Thread.detachNewThread { Self.drip(to: listener) }
    }

    private static func drip(to listener: Int32) {
      let connection = accept(listener, nil, nil)
      close(listener)
      defer { close(connection) }
      // An answer that comes before the request is none.
      var request = [UInt8](repeating: 0, count: 4096)
      guard recv(connection, &request, request.count, 0) > 0 else { return }
      let head = Array("HTTP/1.1 200 OK\r\nContent-Length: \(bytes)\r\n\r\n".utf8)
      guard send(connection, head, head.count, Int32(MSG_NOSIGNAL)) == head.count else { return }
      while send(connection, [0x20], 1, Int32(MSG_NOSIGNAL)) == 1 { usleep(20_000) }
    }
  }

  @Test("one that drips its keys is given up when the time is over, though bytes come all the time")
  func dripping() async throws {
    let issuer = try DrippingIssuer()
    let fetcher = KeySetFetcher(limit: .milliseconds(300))
    await #expect(throws: KeySetError.tooSlow) {
      _ = try await fetcher.fetch(.url("http://127.0.0.1:\(issuer.port)/keys"))
    }
    await fetcher.close()
  }
}
