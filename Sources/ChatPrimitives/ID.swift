/// A typed UUID, so that a room's ID cannot be passed where a user's ID is expected.
public struct ID<Entity>: Hashable, Sendable, Comparable {
  public let uuid: UUIDBytes

  public init(_ uuid: UUIDBytes) {
    self.uuid = uuid
  }

  /// Parses a UUID in upper or lower case.
  /// - Returns: nil if the text is not a UUID, or is the nil UUID.
  public init?(_ text: some StringProtocol) {
    guard let uuid = UUIDBytes(text: text), uuid != .zero else { return nil }
    self.uuid = uuid
  }

  /// The same for a text in ASCII.
  public init?(ascii: UnsafeRawBufferPointer) {
    let uuid = ascii.withMemoryRebound(to: UInt8.self) { UUIDBytes(text: $0) }
    guard let uuid, uuid != .zero else { return nil }
    self.uuid = uuid
  }

  public static func < (left: ID, right: ID) -> Bool { left.uuid < right.uuid }
}

extension ID: CustomStringConvertible {
  /// The UUID in lower case.
  public var description: String { uuid.text }
}

extension ID: Codable {
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let text = try container.decode(String.self)
    guard let id = ID(text) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a UUID")
    }
    self = id
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(uuid.text)
  }
}

/// The entities that the typed IDs identify. Never instantiated.
public enum Entity {
  public enum User {}
  public enum Session {}
  public enum Device {}
  public enum Room {}
  public enum Invite {}
  public enum Workspace {}
  public enum Media {}
  public enum Message {}
  public enum Report {}
  public enum Command {}
  public enum Service {}
}

public typealias UserID = ID<Entity.User>
public typealias SessionID = ID<Entity.Session>
public typealias DeviceID = ID<Entity.Device>
public typealias RoomID = ID<Entity.Room>
public typealias InviteID = ID<Entity.Invite>
public typealias WorkspaceID = ID<Entity.Workspace>
/// Identifies a file that one user uploaded. It stays the same if the same user uploads the same content again.
public typealias MediaID = ID<Entity.Media>
/// Unique within its room.
public typealias MessageID = ID<Entity.Message>
/// Unique within its room.
public typealias ReportID = ID<Entity.Report>
/// A client's ID for a command (the `Idempotency-Key` header). Unique for each actor.
public typealias CommandID = ID<Entity.Command>
/// An administrator or a service that acts with one of the server's own tokens.
public typealias ServiceID = ID<Entity.Service>
