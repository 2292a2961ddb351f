import ChatDomain
import ChatPrimitives
import Foundation
import Testing

@testable import ChatPush

/// A notification about Anna, in the room Tea of the workspace Kitchen.
func sampleInput(
  _ kind: AlertKind = .message, text: String = "The kettle is on.", type: String? = nil, data: String? = nil,
  room: String = "Tea"
) -> PushTextInput {
  PushTextInput(
    kind: kind, type: type, data: data, roomName: room, senderNickname: "Anna", workspaceName: "Kitchen", text: text)
}

@Suite("The texts of a notification")
struct PushTextsSpecs {
  private func texts(
    _ input: PushTextInput, _ templates: PushTemplates = PushTemplates(), language: String? = nil
  ) -> [String] {
    let (title, body) = PushTexts.texts(for: input, language: language, templates: templates)
    return [title, body]
  }

  /// The body of a message of a type with this template.
  private func body(_ template: String, _ input: PushTextInput) throws -> String {
    let template = AlertTemplate(title: try PushTemplate("title"), body: try PushTemplate(template))
    var templates = PushTemplates()
    templates.types["t"] = AlertTemplates(fallback: template)
    var input = input
    input.type = "t"
    return texts(input, templates)[1]
  }

  // MARK: - Built-in texts

  @Test(
    "a message has the room as its title and names the sender",
    arguments: [
      AlertKind.message, .mention, .reply, .reminder,
    ])
  func messages(kind: AlertKind) {
    #expect(texts(sampleInput(kind)) == ["Tea", "Anna: The kettle is on."])
    #expect(texts(sampleInput(kind, room: "")) == ["Anna", "The kettle is on."])
  }

  @Test("a reaction has the emoji and no text")
  func reactionInput() {
    let event = PushEvent(
      position: LogPosition(1), time: Timestamp(milliseconds: 0), actor: anna,
      change: .reaction(tea, .numbered(1), emoji: "👍", messageAuthor: ben))
    let input = PushTextInput(PushContent(event, spaceName: "Tea", senderNickname: "Anna"), .reaction)
    #expect(input.text.isEmpty && input.emoji == "👍")
    #expect(texts(input) == ["Tea", "Anna: 👍"])
  }

  @Test(
    "a file is shown if there is no text",
    arguments: [
      (AttachmentKind.image, "📷"), (.video, "🎬"), (.audio, "🎵"), (.file, "📎 plan.pdf"),
    ])
  func attachments(kind: AttachmentKind, shown: String) {
    var input = sampleInput(text: "")
    (input.attachment, input.attachmentName) = (kind, "plan.pdf")
    #expect(texts(input) == ["Tea", "Anna: \(shown)"])
    input.text = "look"
    #expect(texts(input) == ["Tea", "Anna: look"])
    input.roomName = ""
    #expect(texts(input) == ["Anna", "look"])
    input.text = ""
    #expect(texts(input) == ["Anna", shown])
  }

  @Test("a file without a name is shown as a symbol alone")
  func unnamedFile() {
    var input = sampleInput(text: "")
    input.attachment = .file
    #expect(texts(input)[1] == "Anna: 📎")
  }

  @Test(
    "the content type determines the kind of the file",
    arguments: [
      ("image/jpeg", AttachmentKind.image), ("IMAGE/png", .image), ("video/mp4", .video), ("audio/ogg", .audio),
      ("application/pdf", .file), ("text/plain; charset=utf-8", .file), ("images/png", .file), ("image", .image),
      ("", .file),
    ])
  func contentTypes(contentType: String, kind: AttachmentKind) {
    #expect(AttachmentKind(contentType: contentType) == kind)
  }

  @Test("an app's own type without a template is shown as a message; without a text, as a symbol")
  func unknownType() {
    #expect(texts(sampleInput(type: "poll")) == ["Tea", "Anna: The kettle is on."])
    #expect(texts(sampleInput(text: "", type: "poll")) == ["Tea", "Anna: 💬"])
    #expect(texts(sampleInput(text: "", type: "poll", room: "")) == ["Anna", "💬"])
  }

  @Test("a reaction shows the emoji")
  func reactions() {
    var input = sampleInput(.reaction, text: "")
    input.emoji = "👍"
    #expect(texts(input) == ["Tea", "Anna: 👍"])
    input.roomName = ""
    #expect(texts(input) == ["Anna", "👍"])
  }

  @Test("an invitation names the workspace, an added member the room")
  func memberships() {
    #expect(texts(sampleInput(.invitation, text: "", room: "")) == ["Kitchen", "Anna invited you"])
    #expect(texts(sampleInput(.added, text: "")) == ["Tea", "Anna added you"])
    #expect(texts(sampleInput(.added, text: "", room: "")) == ["Anna", "Anna added you"])
    var nameless = sampleInput(.invitation)
    nameless.workspaceName = ""
    #expect(texts(nameless) == ["Anna", "Anna invited you"])
    var unsent = sampleInput(.invitation, text: "", room: "")
    unsent.senderNickname = ""
    #expect(texts(unsent) == ["Kitchen", "You were invited"])
    unsent = sampleInput(.added, text: "")
    unsent.senderNickname = ""
    #expect(texts(unsent) == ["Tea", "You were added"])
  }

  // MARK: - Lengths

  @Test("a title has at most 256 bytes", arguments: [255, 256, 257])
  func titleLength(bytes: Int) throws {
    let name = String(repeating: "a", count: bytes)
    #expect(texts(sampleInput(room: name))[0].utf8.count == min(bytes, 256))
    var templates = PushTemplates()
    let template = AlertTemplate(title: try PushTemplate("{room}"), body: try PushTemplate("body"))
    templates.kinds[.message] = AlertTemplates(fallback: template)
    #expect(texts(sampleInput(room: name), templates) == [String(repeating: "a", count: min(bytes, 256)), "body"])
  }

  @Test("a body has at most 1,024 bytes", arguments: [1023, 1024, 1025])
  func bodyLength(bytes: Int) throws {
    let text = String(repeating: "a", count: bytes)
    #expect(texts(sampleInput(text: text, room: ""))[1].utf8.count == min(bytes, 1024))
    #expect(texts(sampleInput(text: text))[1] == "Anna: " + String(repeating: "a", count: 1018))
    #expect(try body("{text}", sampleInput(text: text)).utf8.count == min(bytes, 1024))
    #expect(try body("b{text}", sampleInput(text: text)).utf8.count == 1024)
  }

  @Test("a body is cut off between characters, and nothing follows the cut")
  func cutBetweenCharacters() throws {
    let family = "👩‍👩‍👧‍👦"
    let text = String(repeating: family, count: 1024 / family.utf8.count + 1)
    let whole = String(repeating: family, count: 1024 / family.utf8.count)
    #expect(whole.utf8.count < 1024)
    #expect(try body("{text}!", sampleInput(text: text)) == whole)
    #expect(texts(sampleInput(text: text, room: ""))[1] == whole)
  }

  // MARK: - Templates

  @Test("each placeholder is replaced")
  func placeholders() throws {
    var input = sampleInput(data: #"{"a":{"b":"deep"},"number":7}"#)
    input.emoji = "👍"
    #expect(
      try body("{sender}|{room}|{workspace}|{text}|{emoji}|{data.number}|{data.a.b}|{{}}", input)
        == "Anna|Tea|Kitchen|The kettle is on.|👍|7|deep|{}")
    #expect(try body("{room}", sampleInput(room: "")) == "Anna")
    #expect(try body("{text}{emoji}.", sampleInput(text: "")) == ".")
    input = sampleInput(text: "")
    input.attachment = .image
    #expect(try body("{text}", input) == "📷")
  }

  @Test("what is inserted is never parsed as a template")
  func insertedPlaceholders() throws {
    let input = sampleInput(text: "{sender} {{ }} {data.x} {", data: #"{"x":"{text}"}"#, room: "{text}")
    #expect(try body("{text}{data.x}{room}", input) == "{sender} {{ }} {data.x} {{text}{text}")
    #expect(texts(input) == ["{text}", "Anna: {sender} {{ }} {data.x} {"])
  }

  @Test("a text that comes out empty is the built-in one")
  func emptyTexts() throws {
    #expect(try body("{data.none}", sampleInput()) == "Anna: The kettle is on.")
    #expect(try body("{emoji}", sampleInput(text: "")) == "Anna: 💬")
  }

  @Test(
    "texts, numbers and booleans of the app's JSON are shown",
    arguments: [
      (#""Zoë \"Z\" \u00fc""#, #"Zoë "Z" ü"#), ("7", "7"), ("-7", "-7"), ("12.5", "12.5"),
      ("18446744073709551615", "18446744073709551615"),
      ("true", "true"), ("false", "false"), ("0", "0"), ("1", "1"), ("null", ""), ("[1]", ""), (#"{"y":1}"#, ""),
      ("\"\"", ""),
    ] as [(String, String)])
  func dataValues(json: String, shown: String) throws {
    #expect(try body("<{data.x}>", sampleInput(data: #"{"w":0,"x":\#(json),"z":{"x":2}}"#)) == "<\(shown)>")
    #expect(try body("<{data.a.x}>", sampleInput(data: #"{"a":{"x":\#(json)},"x":3}"#)) == "<\(shown)>")
  }

  @Test(
    "JSON of another form has no members",
    arguments: [
      nil, "", "7", "null", "[]", #"["x"]"#, "{", #"{"x":"#, #"{"x":1"#, #"{"x":1}}"#, #"{"x":"a"#, #"{"y":1}"#,
      #"{"x.y":1}"#,
      #"{"x":{"y":{"z":1}}"#,
    ] as [String?])
  func otherData(json: String?) throws {
    #expect(try body("<{data.x}{data.x.y}>", sampleInput(data: json)) == "<>")
  }

  @Test("deeply nested JSON does not end the process", arguments: [64, 4_000])
  func deepData(levels: Int) throws {
    let arrays = #"{"a":"# + String(repeating: "[", count: levels) + String(repeating: "]", count: levels) + "}"
    #expect(try body("<{data.a}>", sampleInput(data: arrays)) == "<>")
    let open = String(repeating: #"{"a":"#, count: min(levels, 3000))
    #expect(try body("<{data.a.a}>", sampleInput(data: open)) == "<>")
  }

  @Test("JSON of at most 16 KiB is read", arguments: [16_383, 16_384, 16_385])
  func dataLength(bytes: Int) throws {
    let frame = #"{"a":"","x":1}"#
    let json = #"{"a":"\#(String(repeating: "a", count: bytes - frame.utf8.count))","x":1}"#
    #expect(json.utf8.count == bytes)
    #expect(try body("<{data.x}>", sampleInput(data: json)) == (bytes <= 16_384 ? "<1>" : "<>"))
  }

  @Test("a path leads through at most 8 names", arguments: [7, 8])
  func dataLevels(names: Int) throws {
    let json = String(repeating: #"{"a":"#, count: names) + "1" + String(repeating: "}", count: names)
    #expect(try body("<{data\(String(repeating: ".a", count: names))}>", sampleInput(data: json)) == "<1>")
  }
}
