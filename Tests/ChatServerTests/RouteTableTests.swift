import ChatProtocol
import Testing

@testable import ChatServer

@Suite struct RouteTableTests {
  @Test("Every endpoint of the contract is served exactly once, and nothing else is")
  func complete() {
    let served = RouteTable.routes.map(\.endpoint.description)
    #expect(served.sorted() == Endpoints.all.map(\.description).sorted())
    #expect(Set(served).count == served.count)
  }

  @Test("Metrics are not part of the API")
  func bench() {
    #expect(!Endpoints.all.map(\.description).contains(RouteTable.bench.endpoint.description))
  }
}
