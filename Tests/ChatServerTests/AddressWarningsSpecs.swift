import Logging
import NIOCore
import Testing

@testable import ChatServer

@Suite("The warning that an address has exceeded a limit")
struct AddressWarningsSpecs {
  private let warnings = AddressWarnings("an address has too much", limit: ("limit", 3))
  private let log = CapturedLog()
  private let start = NIODeadline.now()

  private func refuse(_ address: String, afterSeconds seconds: Int64) throws {
    let address = try #require(NetworkAddress(address))
    warnings.warn(of: address, log.logger, at: start + .seconds(seconds))
  }

  private var addresses: [String?] { log.lines.map { $0.metadata["address"] } }

  @Test("comes once a minute for each address")
  func oncePerMinute() throws {
    for seconds in [0, 1, 59] as [Int64] { try refuse("10.0.0.1", afterSeconds: seconds) }
    #expect(addresses == ["10.0.0.1"])
    try refuse("10.0.0.2", afterSeconds: 59)
    #expect(addresses == ["10.0.0.1", "10.0.0.2"])
    try refuse("10.0.0.1", afterSeconds: 60)
    #expect(addresses == ["10.0.0.1", "10.0.0.2", "10.0.0.1"])
    #expect(log.lines.allSatisfy { $0.level == .warning })
  }

  @Test("comes once a minute for an IPv6 /64, and names the full address")
  func version6() throws {
    try refuse("2001:db8::1", afterSeconds: 0)
    try refuse("2001:db8::2", afterSeconds: 0)
    #expect(addresses == ["2001:db8:0:0:0:0:0:1"])
  }

  @Test("comes for connections without an address too")
  func unknown() {
    warnings.warn(of: nil, log.logger)
    #expect(addresses == ["unknown"])
  }
}
