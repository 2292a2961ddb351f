import ChatService
import Testing

@testable import ChatServer

/// Content from users must not reach the server's log through an error.
@Suite struct LoggedErrorTests {
  private struct Field: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init(_ name: String) { stringValue = name }
    init?(stringValue: String) { self.init(stringValue) }
    init?(intValue: Int) { nil }
  }

  private struct Revealing: Error, CustomStringConvertible {
    var description: String { "secret" }
  }

  @Test func encodingErrorsNameOnlyThePath() {
    let context = EncodingError.Context(
      codingPath: [Field("rooms"), Field("lastMessage")], debugDescription: "secret")
    let text = LoggedError.text(EncodingError.invalidValue("secret", context))
    #expect(text == "EncodingError at rooms.lastMessage")
  }

  @Test func decodingErrorsNameOnlyThePath() {
    let context = DecodingError.Context(codingPath: [Field("data")], debugDescription: "secret")
    #expect(LoggedError.text(DecodingError.dataCorrupted(context)) == "DecodingError at data")
  }

  @Test func otherErrorsNameOnlyTheirType() {
    #expect(LoggedError.text(Revealing()) == "Revealing")
    #expect(LoggedError.text(ServiceError.failed("the disk")) == "failed(\"the disk\")")
  }
}
