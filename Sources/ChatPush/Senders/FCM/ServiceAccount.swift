import Foundation
import JWTKit

/// The key of a Google service account, which is exchanged for access tokens (RFC 7523).
struct ServiceAccount: Sendable {
  /// How long the signed request for an access token is valid, in seconds: at most an hour.
  private static let assertionSeconds = 3600
  private static let scope = "https://www.googleapis.com/auth/firebase.messaging"
  private static let grantType = "urn:ietf:params:oauth:grant-type:jwt-bearer"
  /// How long before its expiry an access token is replaced, in seconds.
  static let marginSeconds = 60

  let projectID: String
  let tokenURL: String
  private let email: String
  private let keyID: String
  private let keys: JWTKeyCollection

  private struct KeyFile: Decodable {
    let type: String
    let project_id: String
    let private_key_id: String
    let private_key: String
    let client_email: String
    let token_uri: String
  }

  /// - Parameter json: the key file from the Firebase or Google Cloud console.
  init(json: Data) async throws {
    let file = try JSONDecoder().decode(KeyFile.self, from: json)
    guard file.type == "service_account" else {
      throw DecodingError.dataCorrupted(
        DecodingError.Context(codingPath: [], debugDescription: "its type is \"\(file.type)\", not \"service_account\"")
      )
    }
    projectID = file.project_id
    tokenURL = file.token_uri
    email = file.client_email
    keyID = file.private_key_id
    keys = await JWTKeyCollection().add(
      rsa: try Insecure.RSA.PrivateKey(pem: file.private_key), digestAlgorithm: .sha256,
      kid: JWKIdentifier(string: file.private_key_id))
  }

  private struct Claims: JWTPayload {
    let iss: String
    let scope: String
    let aud: String
    let iat: Int
    let exp: Int

    func verify(using algorithm: some JWTAlgorithm) throws {}
  }

  /// The body of the request for an access token.
  func grant(at now: Date) async throws -> [UInt8] {
    let issued = Int(now.timeIntervalSince1970)
    let claims = Claims(
      iss: email, scope: Self.scope, aud: tokenURL, iat: issued, exp: issued + Self.assertionSeconds)
    let assertion = try await keys.sign(claims, kid: JWKIdentifier(string: keyID))
    let type = Self.grantType.replacing(":", with: "%3A")
    return Array("grant_type=\(type)&assertion=\(assertion)".utf8)
  }

  /// What a response to the request for an access token means.
  /// - Throws: `TokenFailure`.
  static func token(in response: ProviderClient.Response) throws -> SharedToken.Made {
    struct Granted: Decodable {
      let access_token: String
      let expires_in: Int
    }
    struct Problem: Decodable { let error: String? }
    if response.status == 200, let granted = try? JSONDecoder().decode(Granted.self, from: Data(response.body)) {
      return SharedToken.Made(
        token: granted.access_token, lifetime: .seconds(max(granted.expires_in, marginSeconds + 1) - marginSeconds))
    }
    let problem = (try? JSONDecoder().decode(Problem.self, from: Data(response.body)))?.error
    let text = "\(response.status) \(problem ?? "")".trimmingCharacters(in: .whitespaces)
    switch response.status {
    case 400..<500 where response.status != 408 && response.status != 429:
      throw TokenFailure(
        .providerStopped(
          reason:
            "Google's token service responded with \(text); check the clock of this machine, and whether the key in "
            + "push.fcm.keyFile was deleted", failure: nil))
    default:
      throw TokenFailure(
        .providerPaused(
          reason: "Google's token service responded with \(text)", failure: nil, for: response.retryAfter ?? .zero))
    }
  }
}

/// Why there is no access token, as the result of the notification that needed it.
struct TokenFailure: Error {
  let result: SendResult

  init(_ result: SendResult) { self.result = result }
}
