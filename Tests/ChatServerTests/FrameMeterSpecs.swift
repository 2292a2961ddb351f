import ChatPrimitives
import Logging
import NIOCore
import NIOEmbedded
import Testing

@testable import ChatServer

@Suite("Frames without requests")
struct FrameMeterSpecs {
  private static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

  private func frame(_ type: UInt8, payload: [UInt8] = []) -> [UInt8] {
    [0, UInt8(payload.count >> 8), UInt8(payload.count & 0xff), type, 0, 0, 0, 0, 1] + payload
  }

  /// Frames, some with payloads that look like frames.
  private var conversation: [UInt8] {
    Self.preface + frame(0x4) + frame(0x1, payload: frame(0x8)) + frame(0x8, payload: [0, 0, 0, 1])
      + frame(0x0, payload: Array(repeating: 0x8, count: 300)) + frame(0x9) + frame(0xfa) + frame(0x6, payload: [1])
  }

  @Test("are counted in whatever pieces they come", arguments: [1, 2, 8, 9, 10, 33, 1_000])
  func pieces(size: Int) {
    var meter = FrameMeter()
    var found = 0
    var rest = conversation[...]
    while !rest.isEmpty {
      found += meter.count(ByteBuffer(bytes: rest.prefix(size)))
      rest = rest.dropFirst(size)
    }
    #expect(found == 4)
  }

  @Test("are none in another protocol")
  func otherProtocol() {
    var meter = FrameMeter()
    let first = meter.count(ByteBuffer(string: "PRINT / HTTP/1.1\r\n\r\n"))
    let second = meter.count(ByteBuffer(bytes: conversation))
    #expect(first == 0 && second == 0)
  }

  @Test("are within the budget up to its limit, and again when time has passed")
  func budget() {
    let second: UInt64 = 1_000_000_000
    var budget = FrameBudget(at: second)
    let isAtLimit = budget.spend(Limits.controlFrames, at: second)
    var spent = budget
    let isBeyond = spent.spend(1, at: second)
    let isRefilled = budget.spend(Limits.controlFramesPerSecond, at: 2 * second)
    let isBeyondRefill = budget.spend(1, at: 2 * second)
    #expect(isAtLimit && !isBeyond && isRefilled && !isBeyondRefill)
    // Waiting does not fill the budget beyond its limit.
    var rested = FrameBudget(at: second)
    let isBeyondRest = rested.spend(Limits.controlFrames + 1, at: 1_000 * second)
    #expect(!isBeyondRest)
  }

  @Test("gain budget from responses, which is kept")
  func earned() {
    var budget = FrameBudget(at: 0)
    budget.earn(5_000)
    let isEarned = budget.spend(5_000 + Limits.controlFrames, at: 1)
    let isBeyond = budget.spend(1, at: 1)
    #expect(isEarned && !isBeyond)
  }
}

@Suite("Connections of an address")
struct AddressConnectionsSpecs {
  private func connections(_ limit: Int) throws -> AddressChannels {
    var settings = ConnectionSettings()
    settings.perAddress = limit
    return try #require(AddressChannels.connections(settings, proxies: TrustedProxies([])))
  }

  /// - Returns: The channel, or nil if the connection is refused.
  private func connect(_ address: String, _ connections: AddressChannels) throws -> EmbeddedChannel? {
    let channel = EmbeddedChannel()
    try channel.connect(to: SocketAddress(ipAddress: address, port: 1)).wait()
    let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    if connections.admit(channel, logger) { return channel }
    _ = try channel.finish()
    return nil
  }

  @Test(
    "are as many as the limit until they are closed, each address or /64 for itself", arguments: [1, 2, 50],
    [["10.0.0.1", "10.0.0.1", "10.0.0.2"], ["2001:db8::1", "2001:db8::2", "2001:db8:0:1::1"]])
  func limit(limit: Int, addresses: [String]) throws {
    let (one, same, other) = (addresses[0], addresses[1], addresses[2])
    let connections = try connections(limit)
    var open = try (0..<limit).compactMap { _ in try connect(one, connections) }
    #expect(open.count == limit)
    #expect(try connect(same, connections) == nil)
    open += try [connect(other, connections)].compactMap { $0 }
    #expect(open.count == limit + 1)
    _ = try open.removeFirst().finish()
    open += try [connect(same, connections)].compactMap { $0 }
    #expect(open.count == limit + 1)
    #expect(try connect(one, connections) == nil)
    for channel in open { _ = try channel.finish() }
  }

  @Test("have no limit when the setting is 0")
  func unlimited() {
    var settings = ConnectionSettings()
    settings.perAddress = 0
    #expect(AddressChannels.connections(settings, proxies: TrustedProxies([])) == nil)
  }
}
