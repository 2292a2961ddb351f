import ChatPrimitives
import Testing

@testable import ChatProtocol

/// What is wrong with a body.
@Suite struct BodyFlawSpecs {
  private struct Part: RequestObject {
    enum CodingKeys: String, CodingKey, CaseIterable { case id, name }
    let id: RoomID
    let name: String?
  }

  private struct Whole: RequestObject {
    enum CodingKeys: String, CodingKey, CaseIterable { case text, count, parts }
    let text: String
    let count: Int?
    let parts: [Strict<Part>]?
  }

  private func flaws(_ json: String, atMost limit: Int = 32) throws -> [String] {
    try JSONDocument(Array(json.utf8)).flaws(as: Whole.self, atMost: limit).map { "\($0.pointer) \($0.kind)" }
  }

  @Test("every flaw is found, the unknown fields of an object first")
  func all() throws {
    let json =
      #"{"count":"x","parts":[{"id":"x","nam/e~":1},7,{"id":"018f2f4e-6b5a-7c31-9f0e-3d1f5a7b9c01"}],"other":1}"#
    #expect(
      try flaws(json) == [
        "/other unknownField", "/text missing", "/count wrongType", "/parts/0/nam~1e~0 unknownField",
        #"/parts/0/id invalid("not a UUID")"#, "/parts/1 wrongType",
      ])
  }

  @Test("there are never more than the limit", arguments: [1, 2, 3])
  func limit(most: Int) throws {
    #expect(try flaws(#"{"a":1,"b":2,"c":3,"text":""}"#, atMost: most).count == most)
  }

  @Test("a body that is no object is one flaw, and a good body has none")
  func others() throws {
    #expect(try flaws("[]") == [" wrongType"])
    #expect(try flaws(#"{"text":"tea","parts":[]}"#) == [])
  }
}
