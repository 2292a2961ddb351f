/// The rules of a client's opening handshake (RFC 6455, section 4.2.1).
package struct WebSocketHandshake: Sendable {
  package enum Failure: Error, Equatable, Sendable {
    case malformed
    /// The response (426) names the version that the server has.
    case unsupportedVersion
  }

  /// The field `Sec-WebSocket-Version`.
  package static let version = "13"
  /// The characters of a key, which is 16 bytes of Base64, before its padding `==`.
  private static let keyCharacters = 22
  private static let identifier = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"

  /// The field `Sec-WebSocket-Key`.
  private let key: String

  /// - Parameters:
  ///   - upgrade: the values of the field `Upgrade`, each with one or more names.
  ///   - connection: the values of the field `Connection`, in the same way.
  ///   - versions: the values of the field `Sec-WebSocket-Version`.
  ///   - keys: the values of the field `Sec-WebSocket-Key`.
  package init(
    method: String, upgrade: [String], connection: [String], versions: [String], keys: [String]
  ) throws(Failure) {
    guard method == "GET", Self.names("websocket", in: upgrade), Self.names("upgrade", in: connection) else {
      throw .malformed
    }
    guard versions == [Self.version] else { throw versions.count == 1 ? .unsupportedVersion : .malformed }
    guard keys.count == 1, let key = keys.first, Self.isKey(key) else { throw .malformed }
    self.key = key
  }

  /// The response's field `Sec-WebSocket-Accept` is the Base64 of the SHA-1 digest of this.
  package var acceptInput: [UInt8] { Array((key + Self.identifier).utf8) }

  /// The last character has four unused bits. Clients that make up a key do not always clear them, so they are not read:
  /// two more characters in front complete the last group.
  private static func isKey(_ key: String) -> Bool {
    let characters = Array(key.utf8)
    return characters.count == keyCharacters + 2 && key.hasSuffix("==")
      && Base64.decode((Array("AA".utf8) + characters.prefix(keyCharacters))[...]) != nil
  }

  private static func names(_ name: String, in values: [String]) -> Bool {
    values.contains { value in
      value.split(separator: ",").contains { part in
        part.drop { $0 == " " || $0 == "\t" }.lowercased().prefix { $0 != " " && $0 != "\t" } == name
      }
    }
  }
}
