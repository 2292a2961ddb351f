import EventLogSimulation
import Testing

@testable import SocketProtocols

extension SocketLimits {
  static let small = SocketLimits(
    packetBytes: 1000, attachments: 10, namespaceBytes: 16, arguments: 8, jsonDepth: 8, namespaces: 3,
    connectTimeout: .seconds(10))
}

/// The arguments of a JSON array without attachments.
func arguments(_ elements: String..., attachments: [[UInt8]] = []) -> SocketArguments {
  SocketArguments(elements.map(utf8), attachments: attachments)
}

@Suite struct SocketPacketSpecs {
  private static let admin = SocketNamespace("/admin") ?? .main
  private static let placeholder = "{\"_placeholder\":true,\"num\":0}"

  /// The examples of the specification, with the Engine.IO type.
  static let texts: [(SocketPacket, String)] = [
    (SocketPacket(.connect(nil)), "40"),
    (SocketPacket(.connect(utf8("{\"sid\":\"oSO0\"}")), in: admin), "40/admin,{\"sid\":\"oSO0\"}"),
    (SocketPacket(.connectError(utf8("{\"message\":\"Not authorized\"}"))), "44{\"message\":\"Not authorized\"}"),
    (SocketPacket(.event(arguments("\"foo\""), nil)), "42[\"foo\"]"),
    (SocketPacket(.event(arguments("\"bar\""), nil), in: admin), "42/admin,[\"bar\"]"),
    (SocketPacket(.event(arguments("\"foo\""), id(12))), "4212[\"foo\"]"),
    (SocketPacket(.acknowledgement(arguments("\"bar\""), id(13)), in: admin), "43/admin,13[\"bar\"]"),
    (SocketPacket(.acknowledgement(arguments(), id(0))), "430[]"), (SocketPacket(.disconnect), "41"),
    (SocketPacket(.disconnect, in: admin), "41/admin,"),
  ]

  static let binaries: [(SocketPacket, String)] = [
    (
      SocketPacket(.event(arguments("\"baz\"", placeholder, attachments: [[1, 2, 3, 4]]), nil)),
      "451-[\"baz\",\(placeholder)]"
    ),
    (
      SocketPacket(.event(arguments("\"baz\"", placeholder, attachments: [[1, 2], [3, 4]]), id(7)), in: admin),
      "452-/admin,7[\"baz\",\(placeholder)]"
    ),
    (
      SocketPacket(.acknowledgement(arguments("\"bar\"", placeholder, attachments: [[]]), id(15))),
      "461-15[\"bar\",\(placeholder)]"
    ),
  ]

  private static func id(_ value: UInt64) -> SocketEventID {
    guard let id = SocketEventID(value) else { fatalError("\(value) is no event ID") }
    return id
  }

  private func decode(
    _ text: String, _ attachments: [UInt8]..., limits: SocketLimits = .small
  ) throws(SocketPacketError) -> SocketPacket? {
    var decoder = SocketPacketDecoder(limits: limits)
    var packet = try decoder.receive(.text(utf8(String(text.dropFirst()))))
    for attachment in attachments { packet = try decoder.receive(.binary(attachment)) }
    return packet
  }

  @Test("a packet has the text of the specification", arguments: texts)
  func text(packet: SocketPacket, text: String) throws {
    #expect(packet.encoded == [.text(utf8(text))])
    #expect(try decode(text) == packet)
  }

  @Test("attachments follow the text", arguments: binaries)
  func binary(packet: SocketPacket, text: String) throws {
    let attachments = packet.arguments.attachments
    #expect(packet.encoded == [.text(utf8(text))] + attachments.map(WebSocketMessage.binary))
    var decoder = SocketPacketDecoder(limits: .small)
    #expect(try decoder.receive(.text(utf8(String(text.dropFirst())))) == nil)
    for attachment in attachments.dropLast() { #expect(try decoder.receive(.binary(attachment)) == nil) }
    #expect(try decoder.receive(.binary(attachments.last ?? [])) == packet)
  }

  @Test("a namespace ends at a comma or at the end; the main one can be named")
  func namespaces() throws {
    #expect(try decode("40/admin")?.namespace == Self.admin)
    #expect(try decode("41/admin")?.namespace == Self.admin)
    #expect(try decode("40/,{}")?.namespace == .main)
    #expect(try decode("42/,[\"a\"]")?.namespace == .main)
    #expect(try decode("40/rooms-é/x,")?.namespace.name == "/rooms-é/x")
    #expect(SocketNamespace("admin") == nil)
    #expect(SocketNamespace("/a,b") == nil)
    #expect(SocketNamespace("") == nil)
  }

  @Test("a binary event without attachments is an event")
  func noAttachments() throws {
    #expect(try decode("450-[\"a\"]") == SocketPacket(.event(arguments("\"a\""), nil)))
  }

  @Test("the JSON of a payload keeps its bytes, and its elements are found")
  func elements() throws {
    let packet = try #require(try decode("42 [ \"message\" , 1,\"2\", {\"3\":[true]} ]"))
    #expect(packet.arguments.json == utf8(" [ \"message\" , 1,\"2\", {\"3\":[true]} ]"))
    #expect(packet.arguments.count == 4)
    #expect(packet.arguments.name == "message")
    #expect(packet.arguments[1] == utf8("1"))
    #expect(SocketArguments(packet.arguments.elements(from: 1)).json == utf8("[1,\"2\",{\"3\":[true]}]"))
  }

  @Test("an event whose first element is no string has no name")
  func noName() throws {
    #expect(try decode("42[1]")?.arguments.name == nil)
    #expect(try decode("42[\"\"]")?.arguments.name == "")
  }

  // MARK: Bad input

  @Test(
    "a malformed packet says why",
    arguments: [
      ("4", .empty), ("4abc", .unknownType(0x61)), ("47", .unknownType(0x37)), ("42", .invalidPayload),
      ("42{}", .invalidPayload), ("42[]", .invalidPayload), ("42\"a\"", .invalidPayload), ("42[\"a\"", .invalidPayload),
      ("42abc[\"a\"]", .invalidPayload), ("421", .invalidPayload), ("42/a[\"a\"]", .invalidPayload),
      ("40[]", .invalidPayload), ("40\"token\"", .invalidPayload), ("40{} x", .invalidPayload),
      ("41{}", .invalidPayload), ("41[]", .invalidPayload), ("44", .invalidPayload), ("43[]", .invalidEventID),
      ("43", .invalidEventID), ("431", .invalidPayload), ("431{}", .invalidPayload), ("4201[\"a\"]", .invalidEventID),
      ("42-1[\"a\"]", .invalidPayload), ("45[\"a\"]", .malformedAttachmentCount),
      ("45-[\"a\"]", .malformedAttachmentCount), ("451[\"a\"]", .malformedAttachmentCount),
      ("45x-[\"a\"]", .malformedAttachmentCount), ("4501-[\"a\"]", .malformedAttachmentCount),
      ("4599999-[\"a\"]", .malformedAttachmentCount), ("45-1-[\"a\"]", .malformedAttachmentCount),
      ("451-[\"a\",{\"_placeholder\":true,\"num\":1}]", .unknownAttachment),
      ("451-[\"a\",{\"_placeholder\":true,\"num\":-1}]", .unknownAttachment),
      ("451-[\"a\",{\"_placeholder\":true}]", .unknownAttachment),
    ] as [(String, SocketPacketError)])
  func malformed(text: String, error: SocketPacketError) {
    #expect(throws: error) { try decode(text) }
  }

  @Test("text cannot come where an attachment is missing, nor an attachment alone")
  func misplacedAttachments() {
    var decoder = SocketPacketDecoder(limits: .small)
    #expect(throws: Never.self) { try decoder.receive(.text(utf8("51-[\"a\"]"))) }
    #expect(throws: SocketPacketError.attachmentMissing) { try decoder.receive(.text(utf8("2[\"a\"]"))) }
    #expect(throws: SocketPacketError.unexpectedAttachment) {
      var decoder = SocketPacketDecoder(limits: .small)
      _ = try decoder.receive(.binary([1]))
    }
    #expect(throws: SocketPacketError.unexpectedAttachment) { try decode("42[\"a\"]", [1]) }
  }

  @Test("a packet has its limit of attachments", arguments: [9, 10, 11])
  func attachmentLimit(count: Int) {
    if count <= 10 {
      #expect(throws: Never.self) { try decode("45\(count)-[\"a\"]") }
    } else {
      #expect(throws: SocketPacketError.tooManyAttachments) { try decode("45\(count)-[\"a\"]") }
    }
  }

  @Test("a packet has its limit of bytes, over text and attachments")
  func byteLimit() throws {
    // The text without its Engine.IO type.
    let text = "452-[\"a\"]"
    let left = 1000 - (text.utf8.count - 1)
    #expect(try decode(text, [UInt8](repeating: 0, count: left - 1), [0]) != nil)
    #expect(throws: SocketPacketError.packetTooLarge) { try decode(text, [UInt8](repeating: 0, count: left), [0]) }
    let long = "42[\"\(String(repeating: "x", count: 995))\"]"
    #expect(try decode(long) != nil)
    #expect(throws: SocketPacketError.packetTooLarge) { try decode("42 " + long.dropFirst(2)) }
  }

  @Test("names, arguments and levels have limits")
  func otherLimits() throws {
    let name = "/" + String(repeating: "n", count: 15)
    #expect(try decode("40" + name) != nil)
    #expect(throws: SocketPacketError.namespaceTooLong) { try decode("40\(name)n") }
    #expect(try decode("42[1,2,3,4,5,6,7,8]") != nil)
    #expect(throws: SocketPacketError.invalidPayload) { try decode("42[1,2,3,4,5,6,7,8,9]") }
    #expect(try decode("42[[[[[[[[]]]]]]]]") != nil)
    #expect(throws: SocketPacketError.invalidPayload) { try decode("42[[[[[[[[[]]]]]]]]]") }
  }

  @Test("an event ID is at most 2^53 - 1")
  func eventIDs() throws {
    #expect(
      try decode("429007199254740991[\"a\"]")?.content == .event(arguments("\"a\""), Self.id(SocketEventID.highest)))
    #expect(SocketEventID.highest == 9_007_199_254_740_991)
    #expect(throws: SocketPacketError.invalidEventID) { try decode("429007199254740992[\"a\"]") }
    #expect(throws: SocketPacketError.invalidEventID) { try decode("4299999999999999999999[\"a\"]") }
  }

  // MARK: The server's packets

  @Test("a CONNECT is accepted or refused")
  func handshakes() {
    let id = EngineSessionID(random: 0, 0)
    #expect(SocketPacket.connected(id, to: .main).encoded == [.text(utf8("40{\"sid\":\"AAAAAAAAAAAAAAAAAAAAAA\"}"))])
    #expect(
      SocketPacket.refused("Invalid namespace", in: Self.admin).encoded
        == [.text(utf8("44/admin,{\"message\":\"Invalid namespace\"}"))])
    #expect(
      SocketPacket.refused("No", detail: utf8("{\"status\":401}"), in: .main).encoded
        == [.text(utf8("44{\"message\":\"No\",\"data\":{\"status\":401}}"))])
  }

  @Test("an event is built from JSON that is ready")
  func builtEvents() {
    let event = SocketPacket(.event(SocketArguments(event: "sync", [utf8("{\"items\":[]}")]), nil))
    #expect(event.encoded == [.text(utf8("42[\"sync\",{\"items\":[]}]"))])
    #expect(event.arguments[1] == utf8("{\"items\":[]}"))
  }

  // MARK: Random packets

  @Test("random packets survive their bytes, one after the other", arguments: 0..<300 as Range<UInt64>)
  func roundTrip(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    var decoder = SocketPacketDecoder(limits: .small)
    for _ in 0..<5 {
      let packet = random.socketPacket()
      var decoded: SocketPacket?
      for message in packet.encoded {
        #expect(decoded == nil)
        guard case .message(let content) = try EnginePacket(parsing: message) else {
          Issue.record("a packet of Socket.IO is a message of Engine.IO")
          return
        }
        decoded = try decoder.receive(content)
      }
      #expect(decoded == packet, "\(packet)")
    }
  }
}

extension SocketPacket {
  var arguments: SocketArguments {
    switch content {
    case .event(let arguments, _), .acknowledgement(let arguments, _): arguments
    case .connect, .connectError, .disconnect: SocketArguments([])
    }
  }
}

extension SeededRandom {
  mutating func socketPacket() -> SocketPacket {
    let name = "/" + text(3).filter { $0 != "," }
    let namespace = Bool.random(using: &self) ? .main : SocketNamespace(name) ?? .main
    let object = utf8("{\"text\":") + JSONScanner.quoted(text(8)) + utf8("}")
    let id = SocketEventID(
      .random(in: 0...SocketEventID.highest, using: &self) >> UInt64.random(in: 0...53, using: &self))
    switch Int.random(in: 0...4, using: &self) {
    case 0: return SocketPacket(.connect(Bool.random(using: &self) ? object : nil), in: namespace)
    case 1: return SocketPacket(.connectError(object), in: namespace)
    case 2: return SocketPacket(.disconnect, in: namespace)
    case 3: return SocketPacket(.event(socketArguments(), Bool.random(using: &self) ? id : nil), in: namespace)
    default:
      guard let id else { return SocketPacket(.disconnect, in: namespace) }
      return SocketPacket(.acknowledgement(socketArguments(), id), in: namespace)
    }
  }

  mutating func socketArguments() -> SocketArguments {
    let attachments = (0..<Int.random(in: 0...3, using: &self)).map { _ in bytes(.random(in: 0...8, using: &self)) }
    let references = attachments.indices.map { utf8("{\"_placeholder\":true,\"num\":\($0)}") }
    return SocketArguments(event: text(6), [JSONScanner.quoted(text(6))] + references, attachments: attachments)
  }
}
