import Foundation

/// What a response of FCM means: https://firebase.google.com/docs/reference/fcm/rest/v1/ErrorCode
enum FCMResponse: Sendable, Hashable {
  /// The access token was not accepted.
  case unauthenticated(response: String)
  /// The token belongs to another Firebase project than `push.fcm.keyFile`; see `KeyRefusals`.
  case otherProject(response: String)
  case result(SendResult)

  /// How long FCM or a device is paused after a 429 without `Retry-After`, in seconds. Google recommends a minute.
  private static let quotaSeconds: Int64 = 60
  /// The shortest delay after a 500 or 503, in seconds, which Google recommends.
  private static let unavailableSeconds: Int64 = 10

  init(_ response: ProviderClient.Response) {
    let status = response.status
    let problem = (200..<300).contains(status) ? nil : Problem(response.body)
    let code = problem?.code
    let text = code.map { "\(status) \($0)" } ?? String(status)
    let retryAfter = response.retryAfter
    switch (status, code) {
    case (200..<300, _): self = .result(.delivered(response: String(status)))
    case (_, "UNREGISTERED"): self = .result(.tokenInvalid(response: text))
    case (_, "SENDER_ID_MISMATCH"): self = .otherProject(response: text)
    case (_, "THIRD_PARTY_AUTH_ERROR"):
      self = .result(
        .possiblyWrongKey(
          reason: "\(text); check the APNs key and the Web Push certificate in the Firebase console", failure: text,
          canFollowAcceptance: true, retryAfter: retryAfter ?? .seconds(KeyRefusals.retrySeconds)))
    case (401, _): self = .unauthenticated(response: text)
    case (400, _):
      self = .result(
        problem?.concernsToken == true ? .tokenInvalid(response: text) : .rejected(response: text))
    case (403, _):
      self = .stopped(
        text, "enable the API in the project, and allow the service account cloudmessaging.messages.create")
    case (404, _): self = .stopped(text, "check push.fcm.url and the project_id in push.fcm.keyFile")
    case (413, _): self = .result(.rejected(response: text))
    case (429, _):
      let pause = retryAfter ?? .seconds(Self.quotaSeconds)
      self = .result(
        problem?.concernsDevice == true
          ? .failed(reason: text, retryAfter: pause) : .providerPaused(reason: text, failure: text, for: pause))
    case (503, _):
      self = .result(
        retryAfter.map { .providerPaused(reason: text, failure: text, for: $0) }
          ?? .failed(reason: text, retryAfter: .seconds(Self.unavailableSeconds)))
    case (500..., _):
      self = .result(.failed(reason: text, retryAfter: retryAfter ?? .seconds(Self.unavailableSeconds)))
    default: self = .result(.rejected(response: text))
    }
  }

  private static func stopped(_ text: String, _ next: String) -> FCMResponse {
    .result(.providerStopped(reason: "FCM responded with \(text); \(next)", failure: text))
  }

  /// The parts of an error that matter here.
  private struct Problem {
    /// FCM's own code; without one, the general code.
    let code: String?
    /// Whether the registration token is malformed.
    let concernsToken: Bool
    /// Whether the device, not the project, gets too many messages.
    let concernsDevice: Bool

    init?(_ body: [UInt8]) {
      guard let error = try? JSONDecoder().decode(Envelope.self, from: Data(body)).error else { return nil }
      let details = error.details ?? []
      code = details.compactMap(\.errorCode).first ?? error.status
      concernsToken =
        details.contains { ($0.fieldViolations ?? []).contains { $0.field == "message.token" } }
        || error.message?.lowercased().contains("registration token") == true
      concernsDevice = details.contains {
        ($0.violations ?? []).contains { violation in
          [violation.subject, violation.description].contains { $0?.lowercased().contains("device") == true }
        }
      }
    }

    private struct Envelope: Decodable { let error: Details }

    private struct Details: Decodable {
      let status: String?
      let message: String?
      let details: [Detail]?
    }

    private struct Detail: Decodable {
      let errorCode: String?
      let fieldViolations: [Field]?
      let violations: [Violation]?
    }

    private struct Field: Decodable { let field: String? }

    private struct Violation: Decodable {
      let subject: String?
      let description: String?
    }
  }
}
