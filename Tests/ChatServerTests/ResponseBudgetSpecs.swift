import ChatPrimitives
import ChatService
import Hummingbird
import NIOCore
import NIOEmbedded
import Testing

@testable import ChatServer

@Suite("Bytes of responses that an address has in memory")
struct ResponseBudgetSpecs {
  private static let counted = Limits.uncountedResponseBytes + 1
  private let log = CapturedLog()

  private func charge(_ bytes: Int, _ budget: ResponseBudget, to address: String? = "10.0.0.1") throws -> Response {
    let response = Response(status: .ok, body: ResponseBody(byteBuffer: ByteBuffer(repeating: 0x20, count: bytes)))
    let client = try address.map { try #require(NetworkAddress($0)) }
    return try budget.charge(response, to: client, over: EmbeddedChannel(), log.logger)
  }

  @Test(
    "are as many as the limit, of all its responses together",
    arguments: [(-1, true), (0, true), (1, false)] as [(Int, Bool)])
  func limit(beyond: Int, isTaken: Bool) throws {
    let budget = ResponseBudget(bytesOfAddress: 3 * Self.counted)
    let first = try charge(Self.counted, budget)
    if isTaken {
      _ = try charge(2 * Self.counted + beyond, budget)
    } else {
      #expect(throws: ServiceError.self) { try charge(2 * Self.counted + beyond, budget) }
    }
    #expect(log.lines.compactMap { $0.metadata["address"] } == (isTaken ? [] : ["10.0.0.1"]))
    withExtendedLifetime(first) {}
  }

  @Test("do not include short responses")
  func short() throws {
    let budget = ResponseBudget(bytesOfAddress: 0)
    #expect(try charge(Limits.uncountedResponseBytes, budget).body.contentLength == Limits.uncountedResponseBytes)
    #expect(throws: ServiceError.self) { try charge(Limits.uncountedResponseBytes + 1, budget) }
  }

  @Test("are counted for each address, an IPv6 /64 as one, and until a response is gone")
  func addresses() throws {
    let budget = ResponseBudget(bytesOfAddress: Self.counted)
    let all = ["10.0.0.1", "10.0.0.2", "2001:db8::1", "2001:db8:0:1::1", nil]
    var open = try all.map { try charge(Self.counted, budget, to: $0) }
    for address in all + ["2001:db8::2"] {
      #expect(throws: ServiceError.self) { try charge(Self.counted, budget, to: address) }
    }
    withExtendedLifetime(open) {}
    open.removeAll()
    for address in all { _ = try charge(Self.counted, budget, to: address) }
  }
}
