import ChatProtocol
import Testing

@testable import ChatServer

@Suite struct RouteTableTests {
  @Test("Every endpoint of the contract is served exactly once, and nothing else is")
  func complete() {
    let served = RouteTable.routes.map(\.endpoint)
    #expect(Set(served) == Set(Endpoints.all))
    #expect(served.count == Endpoints.all.count)
    #expect(Set(served.map { "\($0.method) \($0.path)" }).count == served.count)
  }

  @Test("What measures is not part of the API")
  func bench() {
    #expect(!Endpoints.all.contains(RouteTable.bench.endpoint))
  }
}
