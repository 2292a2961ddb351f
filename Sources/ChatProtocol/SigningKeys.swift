public import ChatPrimitives

/// `GET /.well-known/jwks.json`: the keys that can have signed a valid access token (RFC 7517, RFC 8037).
public struct SigningKeySet: ResponseObject {
  public var keys: [SigningKey]

  public init(keys: [SigningKey]) {
    self.keys = keys
  }
}

public struct SigningKey: Codable, Sendable, Hashable {
  public var kty: String
  public var crv: String
  public var use: String
  public var alg: String
  public var kid: String
  /// The public key's 32 bytes.
  public var x: String

  /// An Ed25519 key for verifying signatures.
  public init(kid: String, x: String) {
    kty = "OKP"
    crv = "Ed25519"
    use = "sig"
    alg = "EdDSA"
    self.kid = kid
    self.x = x
  }
}

/// `POST /v1/admin/signing-keys/rotate`
public struct SigningKeyRotation: ResponseObject {
  /// The ID of the key that signs from now on.
  public var kid: String
  public var position: LogPosition

  public init(kid: String, position: LogPosition) {
    self.kid = kid
    self.position = position
  }
}
