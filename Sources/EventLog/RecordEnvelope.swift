package import ChatPrimitives

/// The part of a record that is readable without its payload. The bytes of an envelope never change, even when its
/// payload is erased, because the record's Merkle leaf covers them.
package struct RecordEnvelope: Sendable, Hashable {
  /// The number of the event's type. It never changes; zero is reserved.
  package var kind: UInt16
  /// The version of the payload's schema.
  package var payloadVersion: UInt8
  /// The kind of aggregate that the stream belongs to.
  package var streamKind: UInt8
  package var stream: UUIDBytes
  /// The record's number within its stream.
  package var streamVersion: StreamVersion
  /// When the record was written. It is never earlier than the time of the previous record.
  package var time: Timestamp
  /// The user who acted.
  package var actor: UUIDBytes?
  /// The service that acted, for the user or on its own.
  package var service: UUIDBytes?
  /// The device from which the command came.
  package var device: UUIDBytes?
  /// The object of the event, such as a message.
  package var subject: UUIDBytes?
  /// The client's ID for the command.
  package var command: UUIDBytes?
  /// When the event originally happened, if that was elsewhere and before it was recorded (an import).
  package var originalTime: Timestamp?

  package init(
    kind: UInt16, payloadVersion: UInt8, streamKind: UInt8, stream: UUIDBytes, streamVersion: StreamVersion,
    time: Timestamp, actor: UUIDBytes? = nil, service: UUIDBytes? = nil, device: UUIDBytes? = nil,
    subject: UUIDBytes? = nil, command: UUIDBytes? = nil, originalTime: Timestamp? = nil
  ) {
    self.kind = kind
    self.payloadVersion = payloadVersion
    self.streamKind = streamKind
    self.stream = stream
    self.streamVersion = streamVersion
    self.time = time
    self.actor = actor
    self.service = service
    self.device = device
    self.subject = subject
    self.command = command
    self.originalTime = originalTime
  }
}

// MARK: - Bytes

extension RecordEnvelope {
  /// The length of the part that every envelope has, in bytes.
  package static let fixedBytes = 40
  /// The length with every optional field, in bytes.
  package static let maximumBytes = fixedBytes + 5 * UUIDBytes.byteCount + 8

  /// The bits of the presence flags, in the order of the fields.
  private enum Presence {
    static let actor: UInt16 = 1 << 0
    static let service: UInt16 = 1 << 1
    static let device: UInt16 = 1 << 2
    static let subject: UInt16 = 1 << 3
    static let command: UInt16 = 1 << 4
    static let originalTime: UInt16 = 1 << 5
    static let known: UInt16 = 0x3f
  }

  /// The optional fields that an envelope has.
  struct Fields {
    let presence: UInt16

    var actor: Bool { presence & Presence.actor != 0 }
    var service: Bool { presence & Presence.service != 0 }
    var device: Bool { presence & Presence.device != 0 }
    var subject: Bool { presence & Presence.subject != 0 }
    var command: Bool { presence & Presence.command != 0 }
    var originalTime: Bool { presence & Presence.originalTime != 0 }
  }

  /// Whether this version of the format knows all flags.
  static func knows(presence: UInt16) -> Bool { presence & ~Presence.known == 0 }

  /// The presence flags of the optional fields.
  var presence: UInt16 {
    (actor == nil ? 0 : Presence.actor) | (service == nil ? 0 : Presence.service)
      | (device == nil ? 0 : Presence.device) | (subject == nil ? 0 : Presence.subject)
      | (command == nil ? 0 : Presence.command) | (originalTime == nil ? 0 : Presence.originalTime)
  }

  /// The length of the encoding, in bytes.
  package var encodedBytes: Int { Self.bytes(presence: presence) }

  private static func bytes(presence: UInt16) -> Int {
    let uuids = (presence & ~Presence.originalTime).nonzeroBitCount
    return fixedBytes + uuids * UUIDBytes.byteCount + (presence & Presence.originalTime == 0 ? 0 : 8)
  }

  /// The only valid encoding of this envelope.
  package func encoded() -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: Self.maximumBytes) { buffer, count in
      count = encode(into: UnsafeMutableRawBufferPointer(buffer))
    }
  }

  /// Writes the encoding to the start of `target`, which holds at least `maximumBytes`.
  /// - Returns: the length of the encoding.
  func encode(into target: UnsafeMutableRawBufferPointer) -> Int {
    target.put(kind, at: 0)
    target.put(payloadVersion, at: 2)
    target.put(streamKind, at: 3)
    target.put(presence, at: 4)
    target.put(UInt16(0), at: 6)
    target.put(stream, at: 8)
    target.put(streamVersion.value, at: 24)
    target.put(time.milliseconds, at: 32)
    var offset = Self.fixedBytes
    func put(_ uuid: UUIDBytes?) {
      guard let uuid else { return }
      target.put(uuid, at: offset)
      offset += UUIDBytes.byteCount
    }
    put(actor)
    put(service)
    put(device)
    put(subject)
    put(command)
    if let originalTime {
      target.put(originalTime.milliseconds, at: offset)
      offset += 8
    }
    return offset
  }

  /// Parses an envelope; `bytes` must hold it and nothing else.
  init(parsing bytes: RawSpan) throws(FormatFlaw) {
    guard let kind = bytes.integer(at: 0, as: UInt16.self), let payloadVersion = bytes.integer(at: 2, as: UInt8.self),
      let streamKind = bytes.integer(at: 3, as: UInt8.self), let presence = bytes.integer(at: 4, as: UInt16.self),
      let reserved = bytes.integer(at: 6, as: UInt16.self), let stream = bytes.uuid(at: 8),
      let version = bytes.integer(at: 24, as: UInt64.self), let time = bytes.integer(at: 32, as: Int64.self)
    else { throw FormatFlaw("the envelope is shorter than \(Self.fixedBytes) bytes") }
    guard kind != 0 else { throw FormatFlaw("the record's kind is zero, which is reserved") }
    guard presence & ~Presence.known == 0, reserved == 0 else {
      throw FormatFlaw("the envelope has unknown flags (\(presence), \(reserved))")
    }
    guard bytes.byteCount == Self.bytes(presence: presence) else {
      throw FormatFlaw("the envelope has \(bytes.byteCount) bytes, its flags need \(Self.bytes(presence: presence))")
    }
    self.init(
      kind: kind, payloadVersion: payloadVersion, streamKind: streamKind, stream: stream,
      streamVersion: StreamVersion(version), time: Timestamp(milliseconds: time))
    var offset = Self.fixedBytes
    func field(_ flag: UInt16) -> UUIDBytes? {
      guard presence & flag != 0 else { return nil }
      defer { offset += UUIDBytes.byteCount }
      return bytes.uuid(at: offset)
    }
    actor = field(Presence.actor)
    service = field(Presence.service)
    device = field(Presence.device)
    subject = field(Presence.subject)
    command = field(Presence.command)
    if presence & Presence.originalTime != 0 {
      originalTime = bytes.integer(at: offset, as: Int64.self).map { Timestamp(milliseconds: $0) }
    }
  }
}
