import ChatPrimitives
import Testing

@testable import ChatProjections

@Suite struct SearchWordsTests {
  private func terms(_ query: String) -> [String]? {
    SearchWords(query).map { words in
      words.terms.map { String(decoding: $0.bytes, as: UTF8.self) + ($0.isPrefix ? "*" : "") }
    }
  }

  private func match(_ query: String, _ text: String) throws -> SearchMatch? {
    let words = try #require(SearchWords(query))
    return Array(text.utf8).withUnsafeBufferPointer { bytes in
      NormalForm.withComposed(bytes) { SearchMatch(words, in: $0) }
    }
  }

  @Test(
    "what the index is asked for",
    arguments: [
      ("Hello World", ["hello", "world"]),
      ("hello hello", ["hello"]),
      ("hel*", ["hel*"]), ("hel* wor", ["hel*", "wor"]), ("*", nil),
      ("안녕하세요", ["안녕", "녕하", "하세", "세요"]),
      ("회의 시간", ["회의", "시간"]),
      ("집", ["집*"]),
      ("3시", ["3", "시*"]), ("가1", ["1"]), ("가나1", ["가나", "1"]),
      ("wi-fi", ["wi", "fi"]),
      ("", nil), ("  ", nil), ("!!! 😀", nil),
      ("\" OR #r1 NEAR(", ["or", "r1", "near"]),
    ] as [(String, [String]?)])
  func expression(query: String, expected: [String]?) {
    #expect(terms(query) == expected)
  }

  @Test(
    "a message matches only if it contains every piece in the given form",
    arguments: [
      ("hello", "Well, HELLO there", true), ("hello", "hellos", false), ("hel*", "hellos", true),
      ("wi-fi", "the Wi-Fi", true), ("wi-fi", "wi and fi", false), ("wi fi", "fi and wi", true),
      ("tea milk", "tea with milk", true), ("tea milk", "tea", false),
      ("회의", "내일회의가 있다", true), ("회의가", "회의를", false), ("하세요", "안녕하세요", true),
      ("회의", "회 의", false), ("집", "우리 집에", true),
      ("creme", "crème", true), ("CRÈME", "creme", true),
      ("3시", "내일 3시에", true), ("3시", "시 3", false),
    ])
  func holds(query: String, text: String, expected: Bool) throws {
    #expect(try (match(query, text) != nil) == expected)
  }

  @Test("more hits in a shorter and newer message count for more, whatever else there is")
  func ranks() throws {
    let now = Timestamp(milliseconds: 1_767_225_600_000)
    func rank(_ text: String, days: Int64 = 0) throws -> Int64 {
      SearchRank.rank(try #require(try match("tea", text)), sentAt: now.adding(milliseconds: -days * 86_400_000))
    }
    let long = "tea " + String(repeating: "word ", count: 100)
    #expect(try rank("tea tea") > rank("tea and"))
    #expect(try rank("tea") > rank(long))
    #expect(try rank("tea") > rank("tea", days: 1))
    // A message that is 30 days older has half the weight.
    #expect(try rank("tea") - rank("tea", days: 30) == 1_048_576)
    // Relevance outweighs an age of some days, but not of years.
    #expect(try rank("tea", days: 3) > rank(long))
    #expect(try rank("tea tea", days: 800) < rank(long))
  }

  private func snippet(_ query: String, _ text: String) throws -> String {
    let words = try #require(SearchWords(query))
    return try Array(text.utf8).withUnsafeBufferPointer { bytes in
      try NormalForm.withComposed(bytes) { composed in
        SearchSnippet(composed, try #require(SearchMatch(words, in: composed)).places).marked
      }
    }
  }

  @Test("a snippet marks every hit, on one line")
  func marks() throws {
    #expect(try snippet("tea", "Tea, tea\nand «TEA»!") == "«Tea», «tea» and ‹«TEA»›!")
    #expect(try snippet("회의", "내일회의가 있다") == "내일«회의»가 있다")
    #expect(try snippet("아아", "아아아 b") == "«아아아» b")
    #expect(try snippet("cafe", "un cafe\u{301} \u{1f468}\u{200d}\u{1f469}") == "un «café» \u{1f468}\u{200d}\u{1f469}")
  }

  @Test("of a long text the snippet shows what is around the first hit")
  func cuts() throws {
    let far = String(repeating: "word ", count: 100)
    let shown = try snippet("tea", far + "tea " + far)
    #expect(shown.hasPrefix("…word ") && shown.hasSuffix("…") && shown.contains(" «tea» "))
    #expect(shown.count == SearchSnippet.shownCharacters + 4)
    let end = try snippet("tea", far + "tea")
    #expect(end.hasPrefix("…word ") && end.hasSuffix("«tea»"))
    let short = try snippet("tea", "tea " + far)
    #expect(short.hasPrefix("«tea» word") && short.hasSuffix("…"))
    // A single word without spaces.
    let dense = try snippet("나다", String(repeating: "가", count: 500) + "나다")
    #expect(dense.hasPrefix("…가") && dense.hasSuffix("가«나다»"))
  }

  @Test("the strings of a JSON value are searched, and its member names are not")
  func jsonWords() {
    let body =
      #"{"order": {"number": 10482, "note\u0073": ["caf\u00e9 \"x\"", true, "\ud83d\ude00 a\\b\n"]}, "k":-1.5e3}"#
    let words = String(decoding: JSONWords.values(of: body), as: UTF8.self).split(separator: "\n").map(String.init)
    #expect(words == ["10482", "café \"x\"", "😀 a\\b ", "-1.5e3"])
    for broken in ["\"", "\"\\", "\"\\u12", "{\"a\":\"b", "\\", "\"\\ud83d\\u"] {
      _ = JSONWords.values(of: broken)
    }
  }
}
