package import ChatDomain
import Crypto
package import Foundation
import NIOSSL

/// Why a provider cannot be used as configured.
package struct ProviderConfigurationError: Error, Sendable, Hashable, CustomStringConvertible {
  package let description: String
  package let next: String

  package init(_ description: String, next: String) {
    self.description = description
    self.next = next
  }
}

extension APNsConfiguration {
  /// With provider tokens.
  /// - Parameter key: the content of the `.p8` file of Apple's developer account.
  package init(key: Data, keyID: String, teamID: String, topic: String) async throws(ProviderConfigurationError) {
    for (name, id) in [("push.apns.keyID", keyID), ("push.apns.teamID", teamID)] {
      guard !id.isEmpty, id.utf8.allSatisfy({ (0x21...0x7e).contains($0) }) else {
        throw ProviderConfigurationError(
          "\(name) is \"\(id)\"", next: "write the ID of 10 letters and digits from Apple's developer account")
      }
    }
    do {
      let key = try await APNsKey(pem: String(decoding: key, as: UTF8.self), keyID: keyID, teamID: teamID)
      self.init(authentication: .key(key), topic: topic)
    } catch {
      throw ProviderConfigurationError(
        "push.apns.keyFile has no private key for ES256", next: "use the .p8 file from Apple's developer account")
    }
  }

  /// With a client certificate, in PEM.
  package init(certificate: Data, key: Data, topic: String) throws(ProviderConfigurationError) {
    do {
      let chain = try NIOSSLCertificate.fromPEMBytes(Array(certificate))
      let key = try NIOSSLPrivateKey(bytes: Array(key), format: .pem)
      self.init(authentication: .certificate(chain, key), topic: topic)
    } catch {
      throw ProviderConfigurationError(
        "push.apns.certificateFile or push.apns.certificateKeyFile has no certificate or key in PEM: \(error)",
        next: "convert Apple's .p12 file with `openssl pkcs12`")
    }
  }

  /// - Throws: `ProviderConfigurationError` if a URL is not an absolute https URL.
  package mutating func set(
    environment: APNsEnvironment, productionURL: String, sandboxURL: String
  ) throws(ProviderConfigurationError) {
    self.environment = environment
    self.productionURL = try ProviderURL.checked(productionURL, "push.apns.productionURL")
    self.sandboxURL = try ProviderURL.checked(sandboxURL, "push.apns.sandboxURL")
  }
}

extension FCMConfiguration {
  /// - Parameter key: the content of the JSON key file of a service account.
  package init(key: Data, url: String, android: FCMAndroid) async throws(ProviderConfigurationError) {
    let account: ServiceAccount
    do {
      account = try await ServiceAccount(json: key)
    } catch {
      throw ProviderConfigurationError(
        "push.fcm.keyFile is not the key of a service account: \(Self.text(of: error))",
        next: "create a private key under Service accounts in the Firebase console, and use its JSON file")
    }
    _ = try ProviderURL.checked(account.tokenURL, "token_uri in push.fcm.keyFile")
    self.init(account: account, url: try ProviderURL.checked(url, "push.fcm.url"), android: android)
  }

  private static func text(of error: any Error) -> String {
    if case DecodingError.keyNotFound(let key, _) = error { return "it has no \(key.stringValue)" }
    if case DecodingError.dataCorrupted(let context) = error { return context.debugDescription }
    return error is DecodingError ? "a value has the wrong type" : "private_key is not an RSA key in PEM"
  }
}

extension WebPushConfiguration {
  /// - Parameters:
  ///   - key: the application server's key in PEM.
  ///   - subject: how the operators of push services can contact the operator of this server.
  package init(key: Data, subject: String, hosts: WebPushHosts) async throws(ProviderConfigurationError) {
    guard subject.hasPrefix("mailto:") || subject.hasPrefix("https://") else {
      throw ProviderConfigurationError(
        "push.webPush.subject is \"\(subject)\"", next: "write a mailto: or https: URL at which you can be contacted")
    }
    do {
      let key = try P256.Signing.PrivateKey(pemRepresentation: String(decoding: key, as: UTF8.self))
      self.init(tokens: try await VAPIDTokens(key, subject: subject), hosts: hosts)
    } catch {
      throw ProviderConfigurationError(
        "push.webPush.keyFile has no private key on P-256 in PEM",
        next: "make one with `openssl ecparam -name prime256v1 -genkey -noout -out webpush.pem`")
    }
  }
}

/// The URL of a provider's service.
enum ProviderURL {
  /// - Returns: the URL without a slash at its end.
  static func checked(_ text: String, _ name: String) throws(ProviderConfigurationError) -> String {
    guard let url = URL(string: text), url.scheme?.lowercased() == "https",
      url.host?.isEmpty == false, url.query == nil, url.fragment == nil
    else {
      throw ProviderConfigurationError(
        "\(name) is \"\(text)\"",
        next: "write an absolute https URL without query or fragment, such as https://push.example.org")
    }
    return text.hasSuffix("/") ? String(text.dropLast()) : text
  }
}
