import ChatDomain
import ChatPrimitives
import Foundation
import NIOHTTP1
import NIOSSL

/// Sends notifications through Firebase Cloud Messaging: to Android, and to iOS apps that use Firebase.
final class FCMSender: Sendable {
  private let address: Result<ProviderAddress, any Error>
  private let android: FCMAndroid
  private let client: ProviderClient
  private let token: SharedToken
  private let refusals = KeyRefusals()
  private let now: @Sendable () -> Timestamp

  init(
    _ configuration: FCMConfiguration, tls: TLSConfiguration, _ threads: PushThreads,
    now: @escaping @Sendable () -> Timestamp
  ) {
    let (account, client) = (configuration.account, ProviderClient(tls, threads))
    address = Result { try ProviderAddress("\(configuration.url)/v1/projects/\(account.projectID)/messages:send") }
    android = configuration.android
    self.client = client
    self.now = now
    token = SharedToken {
      let response = try await client.post(
        ProviderAddress(account.tokenURL), ["content-type": "application/x-www-form-urlencoded"],
        try await account.grant(at: Date()))
      return try ServiceAccount.token(in: response)
    }
  }

  func send(_ payload: PushPayload, for notification: PushNotification) async -> SendResult {
    do {
      let body = FCMRequest.body(payload, token: notification.token.token, android, at: now())
      guard let body else { return .rejected(response: "too large") }
      switch try await send(body) {
      case .otherProject(let response):
        return refusals.result(
          of: response, from: "FCM", for: notification.token.token,
          next: "check push.fcm.keyFile: it must be the key file of the app's Firebase project")
      case .unauthenticated(let response):
        return .providerStopped(
          reason: "FCM responded with \(response), also to a new access token; check the account in push.fcm.keyFile",
          failure: response)
      case .result(let result):
        if case .delivered = result { refusals.noteAccepted() }
        return result
      }
    } catch let error as TokenFailure {
      return error.result
    } catch let error as ProviderUnreachable {
      return .noConnection(error)
    } catch {
      return .failed(reason: "\(error)")
    }
  }

  /// Repeats the request once with a new access token if the old one is not accepted.
  private func send(_ body: [UInt8]) async throws -> FCMResponse {
    let address = try address.get()
    var response = FCMResponse.unauthenticated(response: "")
    for _ in 1...2 {
      let authorization = try await token.current()
      let headers: HTTPHeaders = ["authorization": "Bearer " + authorization, "content-type": "application/json"]
      response = FCMResponse(try await client.post(address, headers, body))
      guard case .unauthenticated = response, token.reject(authorization) else { return response }
    }
    return response
  }

  func close() async { await client.close() }
}

/// How FCM is reached.
package struct FCMConfiguration: Sendable {
  package static let defaultURL = "https://fcm.googleapis.com"

  let account: ServiceAccount
  var url = FCMConfiguration.defaultURL
  var android = FCMAndroid()
}
