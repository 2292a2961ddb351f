import NIOCore
import NIOEmbedded
import Testing

@testable import ChatServer

@Suite("Open HTTP/2 streams of one address")
struct StreamLimitSpecs {
  private let log = CapturedLog()

  private func streams(_ limit: Int, proxies: [String] = []) throws -> AddressChannels {
    let ranges = try proxies.map { try #require(NetworkRange($0)) }
    return .streams(limit, proxies: TrustedProxies(ranges))
  }

  /// - Returns: The channel, and whether it is open after its first data arrived.
  private func open(
    _ address: String, _ streams: AddressChannels, asConnection: Bool = false
  ) throws -> (channel: EmbeddedChannel, isOpen: Bool) {
    let channel = EmbeddedChannel()
    try channel.connect(to: SocketAddress(ipAddress: address, port: 1)).wait()
    if asConnection { try channel.pipeline.syncOperations.addHandler(SlowReaderGuard(ConnectionSettings())) }
    try channel.pipeline.syncOperations.addHandler(StreamLimit(streams, log.logger))
    channel.pipeline.fireChannelRead(ByteBuffer())
    return (channel, channel.isActive)
  }

  @Test(
    "are as many as the limit until they are closed, each address or /64 for itself", arguments: [1, 2, 50],
    [["10.0.0.1", "10.0.0.1", "10.0.0.2"], ["2001:db8::1", "2001:db8::2", "2001:db8:0:1::1"]])
  func limit(limit: Int, addresses: [String]) throws {
    let streams = try streams(limit)
    let first = try (0..<limit).map { _ in try open(addresses[0], streams) }
    let openCount = first.count { $0.isOpen }
    #expect(openCount == limit)
    #expect(try !open(addresses[1], streams).isOpen)
    #expect(log.lines.map { $0.metadata["limitStreams"] } == ["\(limit)"])
    #expect(try open(addresses[2], streams).isOpen)
    _ = try first[0].channel.finish()
    #expect(try open(addresses[1], streams).isOpen)
    #expect(try !open(addresses[0], streams).isOpen)
  }

  @Test("have no limit for a trusted proxy, and connections do not count")
  func exempt() throws {
    let streams = try streams(1, proxies: ["10.0.0.0/8"])
    for _ in 0..<3 {
      #expect(try open("10.0.0.1", streams).isOpen)
      #expect(try open("192.0.2.1", streams, asConnection: true).isOpen)
    }
  }
}
