import ChatPrimitives
import ChatService
import Testing

@testable import ChatServer

@Suite("Bytes of bodies that an address has in memory")
struct BodyBudgetSpecs {
  private func address(_ text: String) throws -> NetworkAddress { try #require(NetworkAddress(text)) }

  @Test(
    "are as many as the limit, of all its requests together",
    arguments: [(-1, true), (0, true), (1, false)] as [(Int, Bool)])
  func limit(beyond: Int, isTaken: Bool) throws {
    let budget = BodyBudget()
    let (first, second) = (budget.charge(for: try address("10.0.0.1")), budget.charge(for: try address("10.0.0.1")))
    try first.take(Limits.requestBodyBytes)
    let rest = Limits.bodyBytesOfAddress - Limits.requestBodyBytes + beyond
    if isTaken {
      try second.take(rest)
    } else {
      #expect(throws: ServiceError.self) { try second.take(rest) }
    }
    withExtendedLifetime(first) {}
  }

  @Test("are counted for each address, and for a /64 of version 6 as for one")
  func addresses() throws {
    let budget = BodyBudget(bytesOfAddress: 10)
    let charges = try ["10.0.0.1", "10.0.0.2", "2001:db8::1", "2001:db8:0:1::1"].map {
      budget.charge(for: try address($0))
    }
    for charge in charges { try charge.take(10) }
    let neighbour = budget.charge(for: try address("2001:db8::2"))
    #expect(throws: ServiceError.self) { try neighbour.take(1) }
    for charge in charges { charge.giveBack() }
    try neighbour.take(10)
  }

  @Test("are given back when a request ends, once, also those of one that was refused")
  func givenBack() throws {
    let budget = BodyBudget(bytesOfAddress: 10)
    let (one, other) = (budget.charge(for: nil), budget.charge(for: nil))
    try one.take(4)
    try one.take(2)
    try other.take(4)
    #expect(throws: ServiceError.self) { try other.take(1) }
    one.giveBack()
    one.giveBack()
    try other.take(6)
    #expect(throws: ServiceError.self) { try other.take(1) }
    other.giveBack()
    try budget.charge(for: nil).take(10)
  }
}
