import ChatProtocol
import Foundation
import JWTKit
import NIOPosix

/// An issuer's public keys, each bound to the one algorithm that it is for. The algorithm in a token only selects among
/// the keys; it never determines how a key is used.
struct PublishedKeys: Sendable {
  /// The most keys of one set that are read.
  static let keyLimit = 64
  /// The longest `kid`, in bytes. A key with a longer one is ignored.
  static let keyIDBytes = 256
  /// The shortest RSA modulus, in bytes (RFC 7518, section 3.3).
  private static let modulusMinimumBytes = 256

  struct Key: Sendable {
    let id: String?
    let algorithm: SignatureAlgorithm
    /// Contains only this key.
    let verifier: JWTKeyCollection
  }

  let keys: [Key]

  /// Ignores keys for other purposes, and keys that this server cannot use.
  /// - Throws: `JSONFlaw` or `DecodingError` if it is not a JWK set, or exceeds the limits of JSON bodies.
  init(json: Data) async throws {
    // A set may have 256 KiB, so it is decoded on a thread that serves no connections, like other long bodies.
    let set = try await NIOThreadPool.singleton.runIfActive {
      // The scan rejects text that is expensive to compare, for example thousands of combining marks in a row.
      try JSONDocument([UInt8](json)).decode(KeySet.self)
    }
    var keys: [Key] = []
    for published in set.keys {
      if let key = await Self.key(published) { keys.append(key) }
    }
    self.keys = keys
  }

  /// The key with the token's `kid`; without a `kid`, the only key of the algorithm. `kid`s are compared byte for byte,
  /// so two that are only canonically equal belong to two keys.
  func key(_ id: String?, for algorithm: SignatureAlgorithm) -> Key? {
    let fitting = keys.filter { $0.algorithm == algorithm }
    guard let id else { return fitting.count == 1 ? fitting.first : nil }
    return fitting.first { key in
      guard let published = key.id else { return false }
      return published.utf8.elementsEqual(id.utf8)
    }
  }

  private static func key(_ published: PublishedKey?) async -> Key? {
    guard let published, published.use ?? "sig" == "sig", (published.kid ?? "").utf8.count <= keyIDBytes else {
      return nil
    }
    let verifier = JWTKeyCollection()
    do {
      switch published.kty {
      case "RSA":
        guard fits(published, .rs256), let modulus = published.n, let exponent = published.e,
          modulus.utf8.count * 3 / 4 >= modulusMinimumBytes
        else { return nil }
        await verifier.add(
          rsa: try Insecure.RSA.PublicKey(modulus: modulus, exponent: exponent), digestAlgorithm: .sha256)
        return Key(id: published.kid, algorithm: .rs256, verifier: verifier)
      case "EC":
        guard fits(published, .es256), published.crv == "P-256", let x = published.x, let y = published.y else {
          return nil
        }
        await verifier.add(ecdsa: try ES256PublicKey(parameters: (x, y)))
        return Key(id: published.kid, algorithm: .es256, verifier: verifier)
      case "OKP":
        guard fits(published, .edDSA), published.crv == "Ed25519", let x = published.x else { return nil }
        await verifier.add(eddsa: try EdDSA.PublicKey(x: x, curve: .ed25519))
        return Key(id: published.kid, algorithm: .edDSA, verifier: verifier)
      default:
        return nil
      }
    } catch {
      return nil
    }
  }

  private static func fits(_ published: PublishedKey, _ algorithm: SignatureAlgorithm) -> Bool {
    published.alg == nil || published.alg == algorithm.rawValue
  }
}

/// The first keys of a JWK set. A key that cannot be read is nil and does not affect the others.
private struct KeySet: Decodable {
  let keys: [PublishedKey?]

  private enum CodingKeys: String, CodingKey {
    case keys
  }

  private struct Readable: Decodable {
    let value: PublishedKey?

    init(from decoder: any Decoder) {
      value = try? PublishedKey(from: decoder)
    }
  }

  init(from decoder: any Decoder) throws {
    var elements = try decoder.container(keyedBy: CodingKeys.self).nestedUnkeyedContainer(forKey: .keys)
    var keys: [PublishedKey?] = []
    while !elements.isAtEnd, keys.count < PublishedKeys.keyLimit {
      keys.append(try elements.decode(Readable.self).value)
    }
    self.keys = keys
  }
}

/// The fields of a JWK that this server uses (RFC 7517, section 4; RFC 7518, section 6; RFC 8037, section 2).
private struct PublishedKey: Decodable {
  let kty: String
  let kid: String?
  let use: String?
  let alg: String?
  let n: String?
  let e: String?
  let crv: String?
  let x: String?
  let y: String?
}
