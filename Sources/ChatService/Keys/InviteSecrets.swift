package import ChatDomain
package import ChatPrimitives
package import Crypto

/// What a client shows to use an invite.
package enum InviteSecret: Sendable, Hashable {
  /// From the invite's link.
  case token(String)
  /// As a person typed it.
  case code(InviteCode)

  /// - Parameter text: what the client sent. A token is never a code: it is longer, and hardly ever has twenty hyphens.
  package init(_ text: String) {
    self = InviteCode(typed: text).map { .code($0) } ?? .token(text)
  }
}

/// A code of an invite: twelve characters that a person can read aloud and type, 60 bits. Its alphabet is Crockford's
/// Base32, which has no I, L, O and U.
package struct InviteCode: Sendable, Hashable, CustomStringConvertible {
  package static let characters = 12
  private static let group = 4
  private static let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8)
  /// The longest text that is read as a code, in bytes: room for spaces and hyphens between the characters.
  private static let typedBytes = 64

  /// From the alphabet, without hyphens.
  let text: String

  /// - Parameter bytes: at least eight; the first 60 bits count.
  init(_ bytes: some Sequence<UInt8>) {
    let number = bytes.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    let shifts = (0..<Self.characters).map { UInt64(59 - 5 * $0) }
    text = String(decoding: shifts.map { Self.alphabet[Int(number >> $0 & 31)] }, as: UTF8.self)
  }

  /// Reads what a person typed: in upper or lower case, with spaces and dashes anywhere, and with the letters I and L for
  /// one and O for zero.
  /// - Returns: nil if it cannot be a code.
  package init?(typed: String) {
    guard typed.utf8.count <= Self.typedBytes else { return nil }
    var characters: [UInt8] = []
    for scalar in typed.unicodeScalars where !Self.isSeparator(scalar) {
      guard let character = Self.character(scalar), characters.count < Self.characters else { return nil }
      characters.append(character)
    }
    guard characters.count == Self.characters else { return nil }
    text = String(decoding: characters, as: UTF8.self)
  }

  /// In groups of four characters: `7K2M-Q9TD-4XVE`.
  package var description: String {
    let characters = Array(text)
    return stride(from: 0, to: characters.count, by: Self.group)
      .map { String(characters[$0..<min($0 + Self.group, characters.count)]) }.joined(separator: "-")
  }

  /// Phones replace hyphens and spaces with typographic ones.
  private static func isSeparator(_ scalar: Unicode.Scalar) -> Bool {
    scalar.properties.isWhitespace || scalar.properties.generalCategory == .dashPunctuation
  }

  private static func character(_ scalar: Unicode.Scalar) -> UInt8? {
    guard scalar.isASCII else { return nil }
    let upper = ("a"..."z").contains(scalar) ? UInt8(scalar.value) & ~0x20 : UInt8(scalar.value)
    switch upper {
    case UInt8(ascii: "I"), UInt8(ascii: "L"): return UInt8(ascii: "1")
    case UInt8(ascii: "O"): return UInt8(ascii: "0")
    case let other: return alphabet.contains(other) ? other : nil
    }
  }
}

/// The tokens and codes of invites. Each is derived from the server's key, the ID of the room or workspace, and the
/// invite's ID, so the log need not store it and a retry gets the same one. The room or workspace is included because an
/// invite's ID is unique only there. Rooms and workspaces use different keys, because they may have the same ID.
package struct InviteSecrets: Sendable {
  /// Bytes of a token: 192 bits that nobody can guess without the key.
  static let tokenBytes = 24

  private let keys: ServerKeys

  package init(_ keys: ServerKeys) {
    self.keys = keys
  }

  /// The token in an invite's URL: URL-safe base64 without padding.
  package func token(for invite: InviteID, of room: RoomID) -> String {
    token(room.uuid, invite, "invite-token")
  }

  /// The token in an invite's URL: URL-safe base64 without padding.
  package func token(for invite: InviteID, of workspace: WorkspaceID) -> String {
    token(workspace.uuid, invite, "workspace-invite-token")
  }

  package func code(for invite: InviteID, of room: RoomID) -> InviteCode {
    InviteCode(derived(room.uuid, invite, "invite-code"))
  }

  package func code(for invite: InviteID, of workspace: WorkspaceID) -> InviteCode {
    InviteCode(derived(workspace.uuid, invite, "workspace-invite-code"))
  }

  private func token(_ space: UUIDBytes, _ invite: InviteID, _ purpose: String) -> String {
    Base64URL.encode(Array(derived(space, invite, purpose).prefix(Self.tokenBytes)))
  }

  private func derived(_ space: UUIDBytes, _ invite: InviteID, _ purpose: String) -> [UInt8] {
    keys.authenticationCode(for: purpose, space.bytes + invite.uuid.bytes)
  }

  /// What the log stores of a token or a code.
  package func hash(of secret: InviteSecret) -> [UInt8] {
    switch secret {
    case .token(let token): Self.hash(ofToken: token)
    case .code(let code): hash(of: code)
    }
  }

  static func hash(ofToken token: String) -> [UInt8] { Array(SHA256.hash(data: Array(token.utf8))) }

  /// Uses the key: somebody who has only the log could compare a hash without a key with those of all codes.
  func hash(of code: InviteCode) -> [UInt8] {
    keys.authenticationCode(for: "invite-code-hash", Array(code.text.utf8))
  }
}
