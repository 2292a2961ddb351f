import ChatPrimitives
import ChatProtocol
import Foundation
import NIOPosix
import ProcessorTime
import Testing

@testable import ChatServer

@Suite("limits of the keys that an issuer publishes")
struct PublishedKeysSpecs {
  /// The public key of RFC 8037, appendix A.2.
  private static let members = [
    "kty": "OKP", "crv": "Ed25519", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo",
  ]

  private static func key(_ changes: [String: String]) -> String {
    let members = members.merging(changes) { $1 }
    return "{" + members.map { "\"\($0.key)\":\"\($0.value)\"" }.joined(separator: ",") + "}"
  }

  private static func published(_ keys: String...) async throws -> PublishedKeys {
    try await PublishedKeys(json: Data("{\"keys\":[\(keys.joined(separator: ","))]}".utf8))
  }

  /// A letter with marks in the reverse of their canonical order, so that a comparison has to sort them.
  private static func marks(_ count: Int, escaped: Bool = false) -> String {
    let pair = escaped ? [#"\u0315"#, #"\u0300"#] : ["\u{315}", "\u{300}"]
    return "a" + (0..<count).map { pair[$0 % 2] }.joined()
  }

  @Test(
    "a set with many combining marks in a row is refused", arguments: ["kid", "kty", "use", "alg", "crv", "other"],
    [false, true])
  func refusesMarks(member: String, escaped: Bool) async throws {
    let key = Self.key([member: Self.marks(Limits.combiningMarks + 1, escaped: escaped)])
    await #expect(throws: JSONFlaw.tooManyMarks) { _ = try await Self.published(key) }
  }

  @Test("a set is refused for many marks in the name of a member", arguments: [false, true])
  func refusesMarksInName(escaped: Bool) async throws {
    let key = Self.key([Self.marks(Limits.combiningMarks + 1, escaped: escaped): "1"])
    await #expect(throws: JSONFlaw.tooManyMarks) { _ = try await Self.published(key) }
  }

  @Test("a set is refused for a member whose name is too long")
  func refusesLongName() async throws {
    let good = Self.key([String(repeating: "n", count: Limits.jsonKeyBytes): "1"])
    #expect(try await Self.published(good).keys.count == 1)
    let key = Self.key([String(repeating: "n", count: Limits.jsonKeyBytes + 1): "1"])
    await #expect(throws: JSONFlaw.keyTooLong) { _ = try await Self.published(key) }
  }

  @Test("a kid may have as many marks in a row as any other text")
  func takesMarks() async throws {
    let id = Self.marks(Limits.combiningMarks)
    #expect(try await Self.published(Self.key(["kid": id])).key(id, for: .edDSA) != nil)
  }

  @Test("a key with a long kid is left out, and the others are not", arguments: [0, 1])
  func length(more: Int) async throws {
    let id = String(repeating: "k", count: PublishedKeys.keyIDBytes + more)
    #expect(id.utf8.count == 256 + more)
    let keys = try await Self.published(Self.key(["kid": id]), Self.key(["kid": "other"]))
    #expect((keys.key(id, for: .edDSA) == nil) == (more > 0))
    #expect(keys.key("other", for: .edDSA) != nil)
  }

  @Test("canonically equal kids belong to two keys")
  func canonicallyEqual() async throws {
    let (composed, decomposed) = ("\u{e9}", "e\u{301}")
    let both = try await Self.published(Self.key(["kid": composed]), Self.key(["kid": decomposed]))
    for id in [composed, decomposed] {
      let found = try #require(both.key(id, for: .edDSA)?.id)
      #expect(Array(found.utf8) == Array(id.utf8))
    }
    #expect(try await Self.published(Self.key(["kid": composed])).key(decomposed, for: .edDSA) == nil)
  }

  @Test("keys beyond the limit are not looked at", arguments: [0, 1])
  func count(more: Int) async throws {
    let keys = (1...PublishedKeys.keyLimit + more).map { Self.key(["kid": "\($0)"]) }
    let published = try await Self.published(keys.joined(separator: ","))
    #expect(published.keys.last?.id == "\(PublishedKeys.keyLimit)")
  }

  @Test("a set is not decoded on the calling thread")
  func thread() async throws {
    // The text is so long that decoding it costs far more than passing it to another thread.
    let text = String(repeating: "x", count: 16 << 20)
    let json = Data(#"{"keys":[],"other":"\#(text)"}"#.utf8)
    let decoding = try ProcessorTime.spent { _ = try JSONDocument([UInt8](json)) }
    let pool = NIOThreadPool(numberOfThreads: 1)
    pool.start()
    defer { pool.shutdownGracefully { _ in } }
    let waiting = try await withTaskExecutorPreference(ThreadPoolExecutor(pool)) {
      let start = ProcessorTime.now
      _ = try await PublishedKeys(json: json)
      return ProcessorTime.now - start
    }
    #expect(waiting * 10 < decoding)
  }
}
