/// Reads the text of one packet: `<type>[<attachments>-][<namespace>,][<ID>][<JSON>]`.
struct SocketPacketParser {
  /// What the text says. Attachments follow as messages of their own.
  struct Text {
    var packet: SocketPacket
    var attachments: Int
  }

  private enum Kind: UInt8 {
    case connect = 0x30
    case disconnect, event, acknowledgement, connectError, binaryEvent, binaryAcknowledgement
  }

  /// Longer numbers are above every limit.
  private static let idDigits = 16
  private static let attachmentDigits = 4

  private let text: [UInt8]
  private let limits: SocketLimits
  private var index = 0

  init(_ text: [UInt8], limits: SocketLimits) {
    self.text = text
    self.limits = limits
  }

  mutating func parse() throws(SocketPacketError) -> Text {
    guard let type = peek else { throw .empty }
    guard let kind = Kind(rawValue: type) else { throw .unknownType(type) }
    index += 1
    let attachments = try attachmentCount(of: kind)
    let namespace = try namespace()
    let content = try content(of: kind, attachments: attachments)
    return Text(packet: SocketPacket(content, in: namespace), attachments: attachments)
  }

  private mutating func attachmentCount(of kind: Kind) throws(SocketPacketError) -> Int {
    switch kind {
    case .binaryEvent, .binaryAcknowledgement: break
    case .connect, .disconnect, .event, .acknowledgement, .connectError: return 0
    }
    guard let count = number(digits: Self.attachmentDigits), take(UInt8(ascii: "-")) else {
      throw .malformedAttachmentCount
    }
    guard count <= limits.attachments else { throw .tooManyAttachments }
    return Int(count)
  }

  private mutating func namespace() throws(SocketPacketError) -> SocketNamespace {
    guard peek == UInt8(ascii: "/") else { return .main }
    let end = text[index...].firstIndex(of: UInt8(ascii: ",")) ?? text.count
    guard end - index <= limits.namespaceBytes else { throw .namespaceTooLong }
    guard let namespace = SocketNamespace(String(decoding: text[index..<end], as: UTF8.self)) else {
      throw .invalidPayload
    }
    index = min(end + 1, text.count)
    return namespace
  }

  private mutating func content(
    of kind: Kind, attachments: Int
  ) throws(SocketPacketError) -> SocketPacket.Content {
    switch kind {
    case .connect: return .connect(index == text.count ? nil : try object())
    case .connectError: return .connectError(try object())
    case .disconnect:
      guard index == text.count else { throw .invalidPayload }
      return .disconnect
    case .event, .binaryEvent:
      let id = try eventID()
      let arguments = try arguments(attachments: attachments)
      guard arguments.count > 0 else { throw .invalidPayload }
      return .event(arguments, id)
    case .acknowledgement, .binaryAcknowledgement:
      guard let id = try eventID() else { throw .invalidEventID }
      return .acknowledgement(try arguments(attachments: attachments), id)
    }
  }

  private mutating func eventID() throws(SocketPacketError) -> SocketEventID? {
    guard let byte = peek, Self.isDigit(byte) else { return nil }
    guard let id = number(digits: Self.idDigits).flatMap(SocketEventID.init) else { throw .invalidEventID }
    return id
  }

  private func object() throws(SocketPacketError) -> [UInt8] {
    var scanner = JSONScanner(text, from: index, depth: limits.jsonDepth)
    do { try scanner.object() } catch { throw .invalidPayload }
    return Array(text[index...])
  }

  private func arguments(attachments: Int) throws(SocketPacketError) -> SocketArguments {
    let json = Array(text[index...])
    var scanner = JSONScanner(json, depth: limits.jsonDepth)
    let elements: [Range<Int>]
    do { elements = try scanner.elements(maximum: limits.arguments) } catch { throw .invalidPayload }
    if attachments > 0 {
      let areKnown = scanner.placeholders.allSatisfy { number in number.map { (0..<attachments).contains($0) } ?? false
      }
      guard areKnown else { throw .unknownAttachment }
    }
    return SocketArguments(checked: json, elements: elements, attachments: [])
  }

  // MARK: Bytes

  private var peek: UInt8? { index < text.count ? text[index] : nil }

  private mutating func take(_ byte: UInt8) -> Bool {
    guard peek == byte else { return false }
    index += 1
    return true
  }

  /// Reads all digits. Returns nil if there are none or too many, or if the first of several is zero.
  private mutating func number(digits limit: Int) -> UInt64? {
    let digits = text[index...].prefix(while: Self.isDigit)
    index += digits.count
    guard !digits.isEmpty, digits.count <= limit, digits.count == 1 || digits.first != UInt8(ascii: "0") else {
      return nil
    }
    return digits.reduce(0) { $0 * 10 + UInt64($1 - UInt8(ascii: "0")) }
  }

  private static func isDigit(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }
}
