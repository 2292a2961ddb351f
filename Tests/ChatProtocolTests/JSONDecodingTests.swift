import Foundation
import Testing

@testable import ChatProtocol

@Suite struct JSONDecodingTests {
  struct Shape: Codable, Equatable {
    struct Inner: Codable, Equatable {
      var flag: Bool
      var words: [String]
    }

    enum Choice: String, Codable { case one, two }

    var text: String
    var integer: Int
    var large: UInt64
    var small: Int8
    var double: Double
    var none: String?
    var some: Int?
    var choice: Choice
    var inner: Inner
    var list: [Inner?]
    var map: [String: Int]
    var lists: [[Int]]
  }

  static let shape = Shape(
    text: "q\"\\/\u{8}\u{c}\n\r\t\u{1}\u{7f}é한😀\u{2028}", integer: -5, large: .max, small: -128, double: 1.5, none: nil,
    some: 7, choice: .two, inner: .init(flag: true, words: ["", "a"]), list: [nil, .init(flag: false, words: [])],
    map: ["a": 1, "b": 2], lists: [[], [1, 2]])

  @Test func readsWhatFoundationWrites() throws {
    let data = try JSONEncoder().encode(Self.shape)
    #expect(try JSONDocument(Array(data)).decode(Shape.self) == Self.shape)
  }

  @Test func writesWhatFoundationReads() throws {
    let bytes = try JSONWriter.bytes(of: Self.shape)
    #expect(try JSONDecoder().decode(Shape.self, from: Data(bytes)) == Self.shape)
    #expect(try JSONDocument(bytes).decode(Shape.self) == Self.shape)
  }

  @Test func writesMembersInDeclaredOrder() throws {
    let bytes = try JSONWriter.bytes(of: Shape.Inner(flag: true, words: ["x", "y"]))
    #expect(String(decoding: bytes, as: UTF8.self) == #"{"flag":true,"words":["x","y"]}"#)
  }

  @Test func refusesNumbersThatJSONDoesNotHave() {
    #expect(throws: EncodingError.self) { try JSONWriter.bytes(of: [Double.infinity]) }
  }

  /// The kind of each error and the field that it names determine which problem the client receives.
  @Test func errorsNameTheField() throws {
    func error(_ text: String) throws -> DecodingError? {
      do {
        _ = try JSONDocument(Array(text.utf8)).decode(Shape.Inner.self)
        return nil
      } catch let error as DecodingError {
        return error
      }
    }
    guard case .keyNotFound(let key, _) = try error(#"{"flag":true}"#) else { throw Unexpected() }
    #expect(key.stringValue == "words")
    guard case .typeMismatch(_, let context) = try error(#"{"flag":1,"words":[]}"#) else { throw Unexpected() }
    #expect(context.codingPath.map(\.stringValue) == ["flag"])
    guard case .valueNotFound(_, let context) = try error(#"{"flag":null,"words":[]}"#) else { throw Unexpected() }
    #expect(context.codingPath.map(\.stringValue) == ["flag"])
    guard case .typeMismatch(_, let context) = try error(#"{"flag":true,"words":["a",1]}"#) else { throw Unexpected() }
    #expect(context.codingPath.map(\.stringValue) == ["words", "Index 1"])
    guard case .typeMismatch(_, let context) = try error("[]") else { throw Unexpected() }
    #expect(context.codingPath.isEmpty)
  }

  struct Unexpected: Error {}

  @Test(
    arguments: [
      ("1", 1), ("-0", 0), ("1.0", 1), ("1e2", 100), ("1.5", nil), ("9223372036854775807", .max), ("1e30", nil),
    ] as [(String, Int64?)])
  func readsIntegers(text: String, expected: Int64?) throws {
    let document = try JSONDocument(Array("[\(text)]".utf8))
    #expect((try? document.decode([Int64].self))?.first == expected)
  }
}
