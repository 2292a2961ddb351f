import EventLogSimulation
import Testing

@testable import SocketProtocols

@Suite struct JSONScannerSpecs {
  private func elements(
    _ json: String, depth: Int = 8, maximum: Int = 8
  ) throws(JSONScanner.Malformed) -> [String] {
    var scanner = JSONScanner(utf8(json), depth: depth)
    return try scanner.elements(maximum: maximum).map { String(decoding: utf8(json)[$0], as: UTF8.self) }
  }

  @Test(
    "an array is cut into its elements",
    arguments: [
      ("[]", []), (" [ ] ", []), ("[1]", ["1"]), ("[\"a\",1,{\"3\":[true]}]", ["\"a\"", "1", "{\"3\":[true]}"]),
      ("[ null , false\n,\t-0.5e+3 ]", ["null", "false", "-0.5e+3"]), ("[\"],\\\"\"]", ["\"],\\\"\""]),
      ("[{},[],\"\\u00e9€😀\"]", ["{}", "[]", "\"\\u00e9€😀\""]), ("[1E5,10,0,1.25e-7]", ["1E5", "10", "0", "1.25e-7"]),
    ])
  func valid(json: String, expected: [String]) throws {
    #expect(try elements(json) == expected)
  }

  @Test(
    "anything else than one array is malformed",
    arguments: [
      "", " ", "{}", "1", "[", "]", "[1", "[1,", "[1,]", "[,1]", "[1 2]", "[1]x", "[1][2]", "[01]", "[1.]", "[.5]",
      "[+1]",
      "[-]", "[1e]", "[1e+]", "[tru]", "[truex]", "[nul", "[\"]", "[\"\\]", "[\"\\x\"]", "[\"\\u12g4\"]", "[\"\\u12\"]",
      "[\"\n\"]", "[\"\u{0}\"]", "[{]", "[{\"a\"}]", "[{\"a\":}]", "[{\"a\":1,}]", "[{a:1}]", "[{1:1}]",
      "[{\"a\":1 \"b\":2}]",
      "[NaN]", "['a']", "[1]\u{0}", "[undefined]", "\u{feff}[]",
    ])
  func malformed(json: String) {
    #expect(throws: JSONScanner.Malformed.self) { try elements(json) }
  }

  @Test("arrays and objects can be nested to a limit", arguments: [7, 8, 9])
  func depth(depth: Int) {
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
      let nested = String(repeating: open, count: depth - 1) + "1" + String(repeating: close, count: depth - 1)
      #expect(((try? elements("[\(nested)]")) != nil) == (depth <= 8))
    }
  }

  @Test("the depth counts levels, not values")
  func breadth() throws {
    #expect(try elements("[[],[],[],[]]", depth: 2).count == 4)
    #expect(throws: JSONScanner.Malformed.self) { try elements("[[[]]]", depth: 2) }
    #expect(throws: JSONScanner.Malformed.self) { try elements("[]", depth: 0) }
  }

  @Test("an array has its limit of elements", arguments: [7, 8, 9])
  func elementCount(count: Int) {
    let json = "[\((0..<count).map(String.init).joined(separator: ","))]"
    #expect((try? elements(json))?.count == (count <= 8 ? count : nil))
  }

  @Test("every prefix of an array is malformed")
  func prefixes() {
    let json = "[\"a\\u00e9\\n\",{\"b\":[1.5e3,true,null]},[]]"
    for end in 0..<json.utf8.count {
      var scanner = JSONScanner(Array(utf8(json)[..<end]), depth: 8)
      #expect(throws: JSONScanner.Malformed.self) { try scanner.elements(maximum: 8) }
    }
  }

  @Test(
    "placeholders are found at any depth, and name an attachment or none",
    arguments: [
      ("[{\"_placeholder\":true,\"num\":0}]", [0]),
      ("[{\"num\":1,\"_placeholder\":true},{\"a\":[{\"_placeholder\":true,\"num\":0}]}]", [1, 0]),
      ("[{\"_placeholder\":false,\"num\":0}]", []), ("[{\"_placeholder\":1,\"num\":0}]", []),
      ("[\"_placeholder\"]", []),
      ("[{\"_placeholder\":true}]", [nil]), ("[{\"_placeholder\":true,\"num\":\"0\"}]", [nil]),
      ("[{\"_placeholder\":true,\"num\":0.5}]", [nil]), ("[{\"\\u005fplaceholder\":true,\"num\":3}]", [3]),
      ("[{\"_placeholder\":true,\"num\":-1}]", [-1]),
    ] as [(String, [Int?])])
  func placeholders(json: String, expected: [Int?]) throws {
    var scanner = JSONScanner(utf8(json), depth: 8)
    _ = try scanner.elements(maximum: 8)
    #expect(scanner.placeholders == expected)
  }

  @Test(
    "escapes are decoded, and a lone surrogate becomes U+FFFD",
    arguments: [
      ("plain", "plain"), ("\\\"\\\\\\/\\b\\f\\n\\r\\t", "\"\\/\u{8}\u{c}\n\r\t"), ("\\u00e9\\u20AC", "é€"),
      ("\\ud83d\\ude00", "😀"), ("\\ud83dx", "\u{fffd}x"), ("a\\ude00", "a\u{fffd}"),
    ])
  func unescapes(json: String, text: String) {
    #expect(JSONScanner.unescaped(utf8(json)[...]) == utf8(text))
  }

  @Test("a text that is quoted is a string with this text", arguments: 0..<100 as Range<UInt64>)
  func quotes(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let text = random.text(12) + "\u{0}\u{1f}\r"
    let arguments = SocketArguments(event: text)
    #expect(arguments.name == text)
    #expect(try elements(String(decoding: arguments.json, as: UTF8.self)).count == 1)
  }
}
