import ChatPrimitives
import ChatService
import Logging
import Testing

@testable import ChatServer

@Suite("Bytes of bodies that an address has in memory")
struct BodyBudgetSpecs {
  private let log = CapturedLog()

  private func charge(_ budget: BodyBudget, _ address: String) throws -> BodyCharge {
    budget.charge(for: try #require(NetworkAddress(address)), log.logger)
  }

  @Test(
    "are as many as the limit, of all its requests together",
    arguments: [(-1, true), (0, true), (1, false)] as [(Int, Bool)])
  func limit(beyond: Int, isTaken: Bool) throws {
    let budget = BodyBudget()
    let (first, second) = (try charge(budget, "10.0.0.1"), try charge(budget, "10.0.0.1"))
    try first.add(Limits.requestBodyBytes)
    let rest = Limits.bodyBytesOfAddress - Limits.requestBodyBytes + beyond
    if isTaken {
      try second.add(rest)
    } else {
      #expect(throws: ServiceError.self) { try second.add(rest) }
    }
    #expect(log.lines.compactMap { $0.metadata["address"] } == (isTaken ? [] : ["10.0.0.1"]))
    withExtendedLifetime(first) {}
  }

  @Test("are counted for each address; an IPv6 /64 counts as one")
  func addresses() throws {
    let budget = BodyBudget(bytesOfAddress: 10)
    let charges = try ["10.0.0.1", "10.0.0.2", "2001:db8::1", "2001:db8:0:1::1"].map { try charge(budget, $0) }
    for charge in charges { try charge.add(10) }
    let neighbour = try charge(budget, "2001:db8::2")
    #expect(throws: ServiceError.self) { try neighbour.add(1) }
    for charge in charges { charge.release() }
    try neighbour.add(10)
  }

  @Test("are given back when a request ends, once, also those of one that was refused")
  func givenBack() throws {
    let budget = BodyBudget(bytesOfAddress: 10)
    let (one, other) = (budget.charge(for: nil, log.logger), budget.charge(for: nil, log.logger))
    try one.add(4)
    try one.add(2)
    try other.add(4)
    #expect(throws: ServiceError.self) { try other.add(1) }
    one.release()
    one.release()
    try other.add(6)
    #expect(throws: ServiceError.self) { try other.add(1) }
    other.release()
    try budget.charge(for: nil, log.logger).add(10)
  }
}
