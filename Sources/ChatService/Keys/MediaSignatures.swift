package import ChatPrimitives
import Crypto

/// What a signed URL allows: one user to download one file, or one thumbnail of it, until a time.
package struct MediaGrant: Hashable, Sendable {
  package let media: MediaID
  /// The width of the thumbnail in pixels; nil for the file itself.
  package let width: Int?
  package let user: UserID
  /// The session in which the URL was requested. The grant ends with it. Nil if the caller had none.
  package let session: SessionID?
  package let expiresAt: Timestamp

  package init(media: MediaID, width: Int?, user: UserID, session: SessionID?, expiresAt: Timestamp) {
    self.media = media
    self.width = width
    self.user = user
    self.session = session
    self.expiresAt = expiresAt
  }
}

/// The signatures of URLs for downloads. A signature contains the user, the session and the expiry, with an HMAC of these
/// and of the file and the width, which are in the URL itself, under a key of the server. Nothing is stored.
package struct MediaSignatures: Sendable {
  /// The user, the session or zeros, and the expiry in milliseconds.
  private static let bodyBytes = 2 * UUIDBytes.byteCount + MemoryLayout<Int64>.size

  /// The longest time for which a URL is valid.
  package static let longestMilliseconds = 2 * Limits.signedURLMilliseconds

  private let key: SymmetricKey

  package init(_ keys: ServerKeys) {
    key = keys.key(for: "media-url")
  }

  /// When a URL that is requested at a time expires. Requests in the same period get the same time, so that they get the
  /// same URL, under which caches find the file.
  package static func expiry(at now: Timestamp) -> Timestamp {
    let period = Limits.signedURLMilliseconds
    let (periods, rest) = now.milliseconds.quotientAndRemainder(dividingBy: period)
    return Timestamp(milliseconds: (periods + (rest < 0 ? 1 : 2)) * period)
  }

  package func signature(for grant: MediaGrant) -> String {
    var body = grant.user.uuid.bytes + (grant.session?.uuid ?? .zero).bytes
    withUnsafeBytes(of: grant.expiresAt.milliseconds.bigEndian) { body.append(contentsOf: $0) }
    let code = HMAC<SHA256>.authenticationCode(for: Self.signed(grant.media, grant.width, body), using: key)
    return Base64URL.encode(body + code)
  }

  /// The grant of a URL, which may have expired.
  /// - Parameters:
  ///   - media: the file that the URL names.
  ///   - width: the width of the thumbnail that it names; nil if it names the file itself.
  /// - Returns: nil if this server did not make the signature for this URL.
  package func grant(in signature: String, for media: MediaID, width: Int?) -> MediaGrant? {
    let byteCount = Self.bodyBytes + SHA256.byteCount
    guard let bytes = Base64URL.decode(signature, atMost: byteCount), bytes.count == byteCount else { return nil }
    let body = Array(bytes.prefix(Self.bodyBytes))
    guard
      HMAC<SHA256>.isValidAuthenticationCode(
        bytes.dropFirst(Self.bodyBytes), authenticating: Self.signed(media, width, body), using: key),
      let user = UUIDBytes(bytes: body[0..<16]), let session = UUIDBytes(bytes: body[16..<32])
    else { return nil }
    let expiry = body[32...].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    return MediaGrant(
      media: media, width: width, user: UserID(user), session: session == .zero ? nil : SessionID(session),
      expiresAt: Timestamp(milliseconds: Int64(bitPattern: expiry)))
  }

  /// Every part has a fixed length, so different grants never have the same bytes. No thumbnail has the width zero.
  private static func signed(_ media: MediaID, _ width: Int?, _ body: [UInt8]) -> [UInt8] {
    media.uuid.bytes + withUnsafeBytes(of: Int64(width ?? 0).bigEndian) { Array($0) } + body
  }
}
