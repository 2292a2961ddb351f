/// Puts packets together from Engine.IO messages: a text, and as many binary messages as it announces. After an error
/// the value must not be used any more.
package struct SocketPacketDecoder: Sendable {
  private struct Pending {
    var packet: SocketPacket
    var missing: Int
    var attachments: [[UInt8]]
    var bytes: Int
  }

  private let limits: SocketLimits
  private var pending: Pending?

  package init(limits: SocketLimits) {
    self.limits = limits
  }

  /// How much has arrived of a packet whose attachments are still missing.
  package var unfinishedBytes: Int { pending?.bytes ?? 0 }

  /// - Returns: nil if attachments are still missing.
  package mutating func receive(_ message: EngineMessage) throws(SocketPacketError) -> SocketPacket? {
    switch message {
    case .text(let text):
      guard pending == nil else { throw .attachmentMissing }
      guard text.count <= limits.packetBytes else { throw .packetTooLarge }
      var parser = SocketPacketParser(text, limits: limits)
      let parsed = try parser.parse()
      guard parsed.attachments > 0 else { return parsed.packet }
      pending = Pending(packet: parsed.packet, missing: parsed.attachments, attachments: [], bytes: text.count)
      return nil
    case .binary(let bytes):
      guard var pending else { throw .unexpectedAttachment }
      guard bytes.count <= limits.packetBytes - pending.bytes else { throw .packetTooLarge }
      pending.bytes += bytes.count
      pending.missing -= 1
      pending.attachments.append(bytes)
      self.pending = pending.missing > 0 ? pending : nil
      return pending.missing > 0 ? nil : pending.packet.adding(pending.attachments)
    }
  }
}

extension SocketPacket {
  fileprivate func adding(_ attachments: [[UInt8]]) -> SocketPacket {
    switch content {
    case .event(let arguments, let id): SocketPacket(.event(arguments.adding(attachments), id), in: namespace)
    case .acknowledgement(let arguments, let id):
      SocketPacket(.acknowledgement(arguments.adding(attachments), id), in: namespace)
    case .connect, .connectError, .disconnect: self
    }
  }
}

extension SocketArguments {
  fileprivate func adding(_ attachments: [[UInt8]]) -> SocketArguments {
    SocketArguments(checked: json, elements: elements, attachments: attachments)
  }
}
