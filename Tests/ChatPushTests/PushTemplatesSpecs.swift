import ChatDomain
import Foundation
import Testing

@testable import ChatPush

@Suite("The templates of notifications")
struct PushTemplatesSpecs {
  private func templates(_ json: String) throws -> PushTemplates { try PushTemplates(json: Data(json.utf8)) }

  private func error(_ json: String) -> PushTemplatesError? {
    do {
      _ = try templates(json)
      return nil
    } catch {
      return error as? PushTemplatesError
    }
  }

  private func flaw(_ text: String) -> PushTemplateError? {
    do throws(PushTemplateError) {
      _ = try PushTemplate(text)
      return nil
    } catch {
      return error
    }
  }

  /// A file in which each language of the type `order.shipped` has its tag as the body.
  private func languages(_ tags: [String], group: String = "types", name: String = "order.shipped") -> String {
    let entries = tags.map { #""\#($0)": {"title": "{room}", "body": "\#($0)"}"# }
    return #"{"\#(group)": {"\#(name)": {\#(entries.joined(separator: ","))}}}"#
  }

  private func body(
    _ templates: PushTemplates, _ language: String?, kind: AlertKind = .message, type: String? = "order.shipped"
  ) -> String {
    PushTexts.texts(for: sampleInput(kind, type: type), language: language, templates: templates).body
  }

  // MARK: - Which template applies

  @Test("the file in the documentation is valid")
  func documented() throws {
    let templates = try templates(
      #"""
      {"types": {"order.shipped": {"default": {"title": "{room}", "body": "Order {data.number} was shipped"},
                                   "de": {"title": "{room}", "body": "Bestellung {data.number} wurde versandt"}}},
       "kinds": {"invitation": {"de": {"title": "{workspace}", "body": "{sender} hat dich eingeladen"}}}}
      """#)
    let order = sampleInput(type: "order.shipped", data: #"{"number":7}"#)
    #expect(PushTexts.texts(for: order, language: nil, templates: templates).title == "Tea")
    #expect(PushTexts.texts(for: order, language: nil, templates: templates).body == "Order 7 was shipped")
    #expect(PushTexts.texts(for: order, language: "de-CH", templates: templates).body == "Bestellung 7 wurde versandt")
    #expect(body(templates, "de-CH", kind: .invitation) == "Anna hat dich eingeladen")
    #expect(body(templates, "fr", kind: .invitation) == "Anna invited you")
    #expect(body(templates, nil, kind: .invitation) == "Anna invited you")
  }

  @Test(
    "the language is the tag, then the tag without its last parts, then the default",
    arguments: [
      (nil, "default"), ("fr", "default"), ("", "default"), ("-", "default"), ("d", "default"), ("de", "de"),
      ("DE", "de"), ("de-CH", "de"), ("de-CH-1996", "de"), ("zh", "default"), ("zh-Hant", "zh-Hant"),
      ("zh-hant-tw", "zh-Hant"), ("zh-Hant-x-private", "zh-Hant"), ("zh-Hans", "default"), ("pt-br", "pt-BR"),
      ("pt", "default"), ("pt-PT", "default"), ("den", "default"), ("en-x-a", "en-x-a"), ("en-x-a-b", "default"),
      ("en-x-c", "default"), ("de--", "de"), ("de-x", "de"),
    ] as [(String?, String)])
  func lookup(language: String?, found: String) throws {
    let templates = try templates(languages(["default", "de", "zh-Hant", "pt-BR", "en-x-a", "en-x", "x-en"]))
    #expect(body(templates, language) == found)
  }

  @Test("a type comes before the kind, but only for messages")
  func precedence() throws {
    var all = try templates(languages(["default"]))
    for kind in AlertKind.allCases {
      all.kinds.merge(try templates(languages(["de"], group: "kinds", name: kind.name)).kinds) { first, _ in first }
    }
    #expect(all.kinds.count == AlertKind.allCases.count)
    for kind in [AlertKind.message, .mention, .reply, .reminder] {
      #expect(body(all, "de", kind: kind) == "default")
      #expect(body(all, "de", kind: kind, type: "other") == "de")
      #expect(body(all, "fr", kind: kind, type: "other") == "Anna: The kettle is on.")
      #expect(body(all, "de", kind: kind, type: nil) == "de")
    }
    for kind in [AlertKind.reaction, .invitation, .added] { #expect(body(all, "de", kind: kind) == "de") }
  }

  @Test("a kind can have a default")
  func defaultOfKind() throws {
    let templates = try templates(languages(["default", "de"], group: "kinds", name: "added"))
    #expect(body(templates, "fr", kind: .added) == "default")
    #expect(body(templates, "de", kind: .added) == "de")
    #expect(body(templates, "de", kind: .message, type: nil) == "Anna: The kettle is on.")
  }

  @Test("a file without templates changes nothing", arguments: ["{}", #"{"types": {}, "kinds": {}}"#])
  func empty(json: String) throws {
    #expect(try templates(json) == PushTemplates())
  }

  // MARK: - What is wrong with a file

  @Test(
    "a wrong file names the member and what to do",
    arguments: [
      ("", "the file is not JSON", "correct the JSON"),
      ("{", "the file is not JSON", "correct the JSON"),
      ("[]", "the file is not an object", "write a JSON object"),
      (#"{"type": {}}"#, "type is not known", "write types or kinds"),
      (#"{"types": []}"#, "types is not an object", "write a JSON object"),
      (#"{"types": {"": {}}}"#, #"types."" is not a type of a message"#, "1 to 128 bytes"),
      (#"{"types": {"a.b": 1}}"#, #"types."a.b" is not an object"#, "write a JSON object"),
      (#"{"types": {"a.b": {}}}"#, #"types."a.b" has no default"#, "add default"),
      (#"{"types": {"a": {"de": {"title": "a", "body": "b"}}}}"#, "types.a has no default", "add default"),
      (#"{"types": {"a": {"default": "b"}}}"#, "types.a.default is not an object", "write a JSON object"),
      (#"{"types": {"a": {"default": {"title": "a"}}}}"#, "types.a.default has no body", "add body"),
      (#"{"types": {"a": {"default": {"body": "a"}}}}"#, "types.a.default has no title", "add title"),
      (#"{"types": {"a": {"default": {"title": 1}}}}"#, "types.a.default.title is not a text", "write a text"),
      (#"{"types": {"a": {"default": {"titel": "a"}}}}"#, "types.a.default.titel is not known", "title or body"),
      (#"{"types": {"a": {"default": {"title": "", "body": "b"}}}}"#, "types.a.default.title is empty", "write a text"),
      (
        #"{"types": {"a": {"default": {"title": "a", "body": "{sendr}"}}}}"#,
        "types.a.default.body has the unknown placeholder {sendr}",
        "{sender}, {room}, {workspace}, {text}, {emoji} or {data.member}"
      ),
      (#"{"types": {"a": {"d_e": {"title": "a", "body": "b"}}}}"#, "types.a.d_e is not a language tag", "de or pt-BR"),
      (#"{"types": {"a": {"": {"title": "a", "body": "b"}}}}"#, #"types.a."" is not a language tag"#, "de or pt-BR"),
      (#"{"kinds": {"sent": {}}}"#, "kinds.sent is not a kind", "message, mention, reply"),
      (#"{"kinds": {"added": null}}"#, "kinds.added is not an object", "write a JSON object"),
      (
        #"{"kinds": {"added": {"DE": {"title": "a", "body": "b"}, "de": {"title": "a", "body": "b"}}}}"#,
        "kinds.added.de is there twice", "remove one"
      ),
    ] as [(String, String, String)])
  func wrong(json: String, description: String, next: String) throws {
    let found = try #require(error(json))
    #expect(found.description.hasPrefix(description))
    #expect(found.next.contains(next))
  }

  @Test(
    "braces must be closed; double ones are braces",
    arguments: [
      ("{", .unclosedBrace), ("{sender", .unclosedBrace), ("{sender{", .unclosedBrace), ("{{{", .unclosedBrace),
      ("{sen{der}", .unclosedBrace), ("}", .unopenedBrace), ("{sender}}", .unopenedBrace), ("}}}", .unopenedBrace),
      ("{}", .unknownPlaceholder("")), ("{ sender }", .unknownPlaceholder(" sender ")),
      ("{Sender}", .unknownPlaceholder("Sender")), ("{data}", .unknownPlaceholder("data")),
      ("{data.}", .unknownPlaceholder("data.")), ("{data..a}", .unknownPlaceholder("data..a")),
      ("{sender.a}", .unknownPlaceholder("sender.a")), ("{{", nil), ("}}", nil), ("{{sender}}", nil),
      ("{{{sender}}}", nil), ("{data.größe}", nil),
    ] as [(String, PushTemplateError?)])
  func braces(text: String, flaw: PushTemplateError?) {
    #expect(self.flaw(text) == flaw)
  }

  // MARK: - Limits

  @Test("a template has at most 1,024 bytes", arguments: [1023, 1024, 1025])
  func templateLength(bytes: Int) {
    #expect(flaw(String(repeating: "a", count: bytes)) == (bytes > 1024 ? .tooLong(bytes: bytes) : nil))
    #expect(flaw("ü" + String(repeating: "a", count: bytes - 2)) == (bytes > 1024 ? .tooLong(bytes: bytes) : nil))
  }

  @Test("a template has at most 16 placeholders", arguments: [15, 16, 17])
  func placeholders(count: Int) {
    #expect(flaw(String(repeating: "{text}{{", count: count)) == (count > 16 ? .tooManyPlaceholders : nil))
  }

  @Test("a placeholder has at most 8 names after data", arguments: [7, 8, 9])
  func pathNames(count: Int) {
    let name = "data" + String(repeating: ".a", count: count)
    #expect(flaw("{\(name)}") == (count > 8 ? .pathTooLong(name) : nil))
  }

  @Test("a file has at most 256 KiB", arguments: [262_143, 262_144, 262_145])
  func fileLength(bytes: Int) {
    let file = "{" + String(repeating: " ", count: bytes - 2) + "}"
    #expect(error(file)?.description == (bytes > 262_144 ? "the file has 262145 bytes; the maximum is 262144" : nil))
  }

  @Test("a file has at most 256 types", arguments: [255, 256, 257])
  func types(count: Int) {
    let types = (0..<count).map { #""t\#($0)": {"default": {"title": "a", "body": "b"}}"# }
    let found = error(#"{"types": {\#(types.joined(separator: ","))}}"#)
    #expect(found?.description == (count > 256 ? "types has 257 types; the maximum is 256" : nil))
  }

  @Test("a type has at most 64 languages", arguments: [63, 64, 65])
  func languages(count: Int) {
    let letters = Array("abcdefghij").map(String.init)
    let tags = letters.flatMap { first in letters.map { first + $0 } }.prefix(count - 1)
    let found = error(languages(["default"] + tags))
    #expect(
      found?.description == (count > 64 ? #"types."order.shipped" has 65 languages; the maximum is 64"# : nil))
  }

  @Test("a type has at most 128 bytes", arguments: [127, 128, 129])
  func typeLength(bytes: Int) {
    let found = error(languages(["default"], name: String(repeating: "a", count: bytes)))
    #expect(found?.description.hasSuffix("a is not a type of a message") == (bytes > 128 ? true : nil))
  }

  @Test("a language tag has at most 35 bytes", arguments: [34, 35, 36])
  func tagLength(bytes: Int) {
    let tag = "aaaaaaaa-aaaaaaaa-aaaaaaaa-" + String(repeating: "a", count: bytes - 29) + "-a"
    #expect(tag.utf8.count == bytes)
    #expect((error(languages(["default", tag])) != nil) == (bytes > 35))
  }
}
