import ChatDomain
import ChatPrimitives
import Foundation
import JWTKit
import NIOHTTP1
import NIOSSL

/// Sends notifications to Apple's devices over HTTP/2.
final class APNsSender: Sendable {
  /// How long a provider token is used, in seconds. Apple accepts tokens that are 20 to 60 minutes old.
  static let tokenSeconds: Int64 = 50 * 60

  private let configuration: APNsConfiguration
  private let client: ProviderClient
  /// For each environment, because each of them is stopped by itself.
  private let refusals = (production: KeyRefusals(), sandbox: KeyRefusals())
  /// Nil with a client certificate.
  private let token: SharedToken?

  /// - Parameter tls: without the client certificate.
  init(_ configuration: APNsConfiguration, tls: TLSConfiguration, _ threads: PushThreads) {
    self.configuration = configuration
    var tls = tls
    switch configuration.authentication {
    case .key(let key):
      token = SharedToken { try await key.token(at: Date()) }
    case .certificate(let chain, let key):
      tls.certificateChain = chain.map { .certificate($0) }
      tls.privateKey = .privateKey(key)
      token = nil
    }
    client = ProviderClient(tls, threads)
  }

  func send(_ payload: PushPayload, for notification: PushNotification) async -> SendResult {
    do {
      guard let path = APNsRequest.path(of: notification.token.token) else {
        return .tokenInvalid(response: "malformed")
      }
      guard let body = APNsRequest.body(payload) else { return .rejected(response: "too large") }
      let environment = notification.apnsEnvironment ?? configuration.environment
      let refusals = environment == .sandbox ? refusals.sandbox : refusals.production
      switch try await send(payload, to: environment, path, body) {
      case .notForTopic(let response):
        return refusals.result(
          of: response, from: "APNs", for: path,
          next: "check push.apns.topic: it must be the app's bundle ID")
      case .tokenExpired:
        return .providerPaused(
          reason: "APNs responded with 403 ExpiredProviderToken; check the clock of this machine",
          failure: "403 ExpiredProviderToken", for: .seconds(TokenSchedule.renewalSeconds))
      case .result(let result):
        if case .delivered = result { refusals.noteAccepted() }
        return result
      }
    } catch let error as ProviderUnreachable {
      return .noConnection(error)
    } catch {
      return .failed(reason: "\(error)")
    }
  }

  /// Repeats the request once if only the provider token has expired.
  private func send(
    _ payload: PushPayload, to environment: APNsEnvironment, _ path: String, _ body: [UInt8]
  ) async throws -> APNsResponse {
    let address = try ProviderAddress(configuration.url(of: environment) + path)
    for _ in 1...2 {
      let authorization = try await token?.current()
      let headers = APNsRequest.headers(payload, topic: configuration.topic, authorization: authorization)
      let response = APNsResponse(
        try await client.post(address, headers, body), isOwnEnvironment: environment == configuration.environment)
      guard response == .tokenExpired, let authorization, token?.reject(authorization) == true else { return response }
    }
    return .tokenExpired
  }

  func close() async { await client.close() }
}

/// How APNs is reached.
package struct APNsConfiguration: Sendable {
  package static let defaultProductionURL = "https://api.push.apple.com"
  package static let defaultSandboxURL = "https://api.sandbox.push.apple.com"

  enum Authentication: Sendable {
    case key(APNsKey)
    case certificate([NIOSSLCertificate], NIOSSLPrivateKey)
  }

  let authentication: Authentication
  /// The bundle ID of the app.
  let topic: String
  /// The environment of devices that do not name one.
  var environment = APNsEnvironment.production
  var productionURL = APNsConfiguration.defaultProductionURL
  var sandboxURL = APNsConfiguration.defaultSandboxURL

  func url(of environment: APNsEnvironment) -> String {
    switch environment {
    case .production: productionURL
    case .sandbox: sandboxURL
    }
  }
}

/// The key that signs provider tokens.
struct APNsKey: Sendable {
  private let keys: JWTKeyCollection
  private let keyID: String
  private let teamID: String

  /// - Parameter pem: the `.p8` file of Apple's developer account.
  init(pem: String, keyID: String, teamID: String) async throws {
    keys = await JWTKeyCollection().add(ecdsa: try ES256PrivateKey(pem: pem), kid: JWKIdentifier(string: keyID))
    self.keyID = keyID
    self.teamID = teamID
  }

  private struct Claims: JWTPayload {
    let iss: String
    let iat: Int

    func verify(using algorithm: some JWTAlgorithm) throws {}
  }

  func token(at now: Date) async throws -> SharedToken.Made {
    let claims = Claims(iss: teamID, iat: Int(now.timeIntervalSince1970))
    return SharedToken.Made(
      token: try await keys.sign(claims, kid: JWKIdentifier(string: keyID)), lifetime: .seconds(APNsSender.tokenSeconds)
    )
  }
}
