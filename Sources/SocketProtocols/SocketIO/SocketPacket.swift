/// A namespace: `/` and anything without a comma.
package struct SocketNamespace: Hashable, Sendable {
  package let name: String

  package static let main = SocketNamespace(valid: "/")

  private init(valid name: String) {
    self.name = name
  }

  /// - Returns: nil if no namespace can have this name.
  package init?(_ name: String) {
    guard name.utf8.first == UInt8(ascii: "/"), !name.utf8.contains(UInt8(ascii: ",")) else { return nil }
    self.name = name
  }
}

/// The number with which a client recognises the acknowledgement of its event. JavaScript counts up to 2^53 - 1.
package struct SocketEventID: Hashable, Sendable {
  package static let highest: UInt64 = 1 << 53 - 1

  package let value: UInt64

  package init?(_ value: UInt64) {
    guard value <= Self.highest else { return nil }
    self.value = value
  }
}

/// A packet of Socket.IO, protocol 5.
package struct SocketPacket: Equatable, Sendable {
  package enum Content: Equatable, Sendable {
    /// A JSON object: from the client what it authenticates with, from the server `{"sid":…}`.
    case connect([UInt8]?)
    /// A JSON object with a `message`.
    case connectError([UInt8])
    case disconnect
    case event(SocketArguments, SocketEventID?)
    case acknowledgement(SocketArguments, SocketEventID)
  }

  package var namespace: SocketNamespace
  package var content: Content

  package init(_ content: Content, in namespace: SocketNamespace = .main) {
    self.namespace = namespace
    self.content = content
  }
}

/// Why a packet cannot be read.
package enum SocketPacketError: Error, Equatable, Sendable {
  /// There is no packet type.
  case empty
  case unknownType(UInt8)
  /// The number of attachments is missing or not a number.
  case malformedAttachmentCount
  case tooManyAttachments
  case namespaceTooLong
  case invalidEventID
  /// The payload is missing, is not the JSON that the type needs, or has too many arguments or levels.
  case invalidPayload
  /// A placeholder names an attachment that the packet does not have.
  case unknownAttachment
  /// Text arrived where an attachment had to follow.
  case attachmentMissing
  /// An attachment without a packet that it belongs to.
  case unexpectedAttachment
  /// The text and the attachments together are too long.
  case packetTooLarge
}

package struct SocketLimits: Equatable, Sendable {
  /// The most bytes of a packet with its attachments.
  package var packetBytes: Int
  /// The most attachments of a packet.
  package var attachments: Int
  /// The longest name of a namespace, in bytes.
  package var namespaceBytes: Int
  /// The most elements of an event or an acknowledgement, with the event's name.
  package var arguments: Int
  /// How deep arrays and objects of a payload can be nested.
  package var jsonDepth: Int
  /// The most namespaces that a session is connected to at once.
  package var namespaces: Int
  /// How long a session can be without a namespace.
  package var connectTimeout: Duration

  package init(
    packetBytes: Int, attachments: Int, namespaceBytes: Int, arguments: Int, jsonDepth: Int, namespaces: Int,
    connectTimeout: Duration
  ) {
    self.packetBytes = packetBytes
    self.attachments = attachments
    self.namespaceBytes = namespaceBytes
    self.arguments = arguments
    self.jsonDepth = jsonDepth
    self.namespaces = namespaces
    self.connectTimeout = connectTimeout
  }
}

// MARK: - Encoding

extension SocketPacket {
  /// The packet as Engine.IO message packets: the text, then its attachments. The same bytes serve all clients of a
  /// namespace.
  package var encoded: [WebSocketMessage] {
    var text: [UInt8] = []
    var attachments: [[UInt8]] = []
    switch content {
    case .connect(let payload): text = head("0") + (payload ?? [])
    case .disconnect: text = head("1")
    case .connectError(let payload): text = head("4") + payload
    case .event(let arguments, let id):
      text = head("2", binary: "5", arguments) + Self.digits(id) + arguments.json
      attachments = arguments.attachments
    case .acknowledgement(let arguments, let id):
      text = head("3", binary: "6", arguments) + Self.digits(id) + arguments.json
      attachments = arguments.attachments
    }
    return [EnginePacket.message(.text(text)).encoded] + attachments.map(WebSocketMessage.binary)
  }

  private func head(_ type: String) -> [UInt8] {
    Array(type.utf8) + (namespace == .main ? [] : Array(namespace.name.utf8) + [UInt8(ascii: ",")])
  }

  private func head(_ type: String, binary: String, _ arguments: SocketArguments) -> [UInt8] {
    arguments.attachments.isEmpty ? head(type) : head("\(binary)\(arguments.attachments.count)-")
  }

  private static func digits(_ id: SocketEventID?) -> [UInt8] {
    id.map { Array(String($0.value).utf8) } ?? []
  }
}

extension SocketPacket {
  /// The server accepts a CONNECT.
  package static func connected(_ id: EngineSessionID, to namespace: SocketNamespace) -> SocketPacket {
    SocketPacket(.connect(Array("{\"sid\":\"\(id.text)\"}".utf8)), in: namespace)
  }

  /// The server refuses a CONNECT.
  ///
  /// - Parameter detail: a JSON text for the field `data`. It is not checked.
  package static func refused(
    _ message: String, detail: [UInt8]? = nil, in namespace: SocketNamespace
  ) -> SocketPacket {
    var json = Array("{\"message\":".utf8) + JSONScanner.quoted(message)
    if let detail { json += Array(",\"data\":".utf8) + detail }
    json.append(UInt8(ascii: "}"))
    return SocketPacket(.connectError(json), in: namespace)
  }
}
