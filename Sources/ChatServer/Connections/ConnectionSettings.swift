package import NIOSSL

/// How many connections are allowed, and how fast their clients must send and receive.
package struct ConnectionSettings: Sendable, Hashable {
  /// The most connections that are open at once; further ones wait to be accepted.
  package var maximum = 20_000
  /// The most connections of one address, or of one IPv6 /64; further ones are closed at once. 0 means no limit.
  package var perAddress = 1_000
  /// The seconds in which a request's head must arrive completely, counted from its first byte.
  package var headSeconds = 20
  /// The seconds before the minimum rates apply to a body, and to a response that waits to be read.
  package var bodySeconds = 20
  /// The bytes per second at which a body must arrive on average after that.
  package var bodyBytesPerSecond = 512
  /// The same rate for an uploaded file. There are few slots for uploads, and a slow upload holds its slot for long.
  package var uploadBytesPerSecond = 8_192
  /// The bytes per second at which a client must read what waits for it.
  package var responseBytesPerSecond = 2_048

  package init() {}
}

/// A certificate and its key, in PEM files.
package struct TLSSettings: Sendable, Hashable {
  /// A file with the server's own certificate first, followed by the chain up to the authority's certificate.
  package var certificateFile: String
  package var keyFile: String
  /// Whether HTTP/2 is offered (by ALPN); HTTP/1.1 always is.
  package var offersHTTP2: Bool

  package init(certificateFile: String, keyFile: String, offersHTTP2: Bool) {
    self.certificateFile = certificateFile
    self.keyFile = keyFile
    self.offersHTTP2 = offersHTTP2
  }

  /// Why a certificate and its key cannot be used.
  package enum Flaw: Error, CustomStringConvertible {
    case certificate(file: String, reason: String)
    case key(file: String, reason: String)
    case pair(reason: String)

    package var description: String {
      switch self {
      case .certificate(let file, let reason): "the certificate in \(file) cannot be read: \(reason)"
      case .key(let file, let reason): "the private key in \(file) cannot be read: \(reason)"
      case .pair(let reason): "the certificate and the private key cannot be used for TLS: \(reason)"
      }
    }
  }

  /// The cipher suites that are offered with TLS 1.2: those of RFC 9325, section 4.2, and those with ChaCha20-Poly1305
  /// (RFC 7905). All of them keep past sessions secret if the key is lost (forward secrecy), and authenticate what they
  /// encrypt. TLS 1.3 has only such suites.
  private static let suites: [NIOTLSCipher] = [
    .TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, .TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
    .TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, .TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
    .TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256, .TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
  ]

  /// Reads the files. TLS 1.2 is the oldest version that is accepted.
  package func load() throws(Flaw) -> TLSConfiguration {
    let chain: [NIOSSLCertificate]
    do {
      chain = try NIOSSLCertificate.fromPEMFile(certificateFile)
    } catch {
      throw .certificate(file: certificateFile, reason: String(describing: error))
    }
    guard !chain.isEmpty else { throw .certificate(file: certificateFile, reason: "it contains none") }
    let key: NIOSSLPrivateKey
    do {
      key = try NIOSSLPrivateKey(file: keyFile, format: .pem)
    } catch {
      throw .key(file: keyFile, reason: String(describing: error))
    }
    var configuration = TLSConfiguration.makeServerConfiguration(
      certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
    configuration.minimumTLSVersion = .tlsv12
    configuration.cipherSuiteValues = Self.suites
    do {
      _ = try NIOSSLContext(configuration: configuration)
    } catch {
      throw .pair(reason: String(describing: error))
    }
    return configuration
  }
}
