import Testing

@testable import ChatServer

@Suite("The header field Date")
struct DateFieldSpecs {
  @Test("it has the format of RFC 9110, and follows the clock")
  func format() {
    let date = DateField()
    #expect(date.text(at: 784_111_777) == "Sun, 06 Nov 1994 08:49:37 GMT")
    #expect(date.text(at: 784_111_777) == "Sun, 06 Nov 1994 08:49:37 GMT")
    #expect(date.text(at: 784_111_778) == "Sun, 06 Nov 1994 08:49:38 GMT")
    #expect(date.text(at: 1_709_210_096) == "Thu, 29 Feb 2024 12:34:56 GMT")
  }
}
