package import NIOSSL

/// What connections may do and how long.
package struct ConnectionSettings: Sendable, Hashable {
  /// Connections that are open at once; further ones wait to be accepted.
  package var maximum = 20_000
  /// Those of one address, or of one /64 of IPv6; further ones are closed at once. 0 stands for no limit.
  package var perAddress = 1_000
  /// Seconds in which a request's head must come in whole, once its first byte has.
  package var headSeconds = 20
  /// Seconds that a body has before its pace counts, and an answer that waits to be taken.
  package var bodySeconds = 20
  /// Bytes a second that a body must bring on average after that.
  package var bodyBytesPerSecond = 512
  /// The same of an uploaded file: there are few places for uploads, and a slow one holds its place for long.
  package var uploadBytesPerSecond = 8_192
  /// Bytes a second that a client must take of what waits for it.
  package var answerBytesPerSecond = 2_048

  package init() {}
}

/// A certificate and its key, in PEM files.
package struct TLSSettings: Sendable, Hashable {
  /// The server's own certificate first, then those up to the authority's.
  package var certificateFile: String
  package var keyFile: String
  /// Whether HTTP/2 is offered (by ALPN); HTTP/1.1 always is.
  package var offersHTTP2: Bool

  package init(certificateFile: String, keyFile: String, offersHTTP2: Bool) {
    self.certificateFile = certificateFile
    self.keyFile = keyFile
    self.offersHTTP2 = offersHTTP2
  }

  /// Why a certificate and its key are of no use.
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

  /// The suites that are offered with TLS 1.2: those of RFC 9325, section 4.2, with ChaCha20-Poly1305 (RFC 7905), which
  /// all keep past sessions secret when the key is lost, and authenticate what they encrypt. TLS 1.3 has no others.
  private static let suites: [NIOTLSCipher] = [
    .TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, .TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
    .TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, .TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
    .TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256, .TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
  ]

  /// Reads the files. TLS 1.2 is the oldest that is spoken.
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
