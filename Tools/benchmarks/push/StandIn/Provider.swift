import NIOCore
import NIOHPACK

/// The push services that this program imitates. The path of a request selects the service.
enum Provider: String, CaseIterable, Codable {
  case apns, fcm, webPush
  /// Google's token service.
  case token

  init?(path: String) {
    if path.hasPrefix("/3/device/") {
      self = .apns
    } else if path.hasPrefix("/v1/projects/") {
      self = .fcm
    } else if path.hasPrefix("/push/") {
      self = .webPush
    } else if path == "/token" {
      self = .token
    } else {
      return nil
    }
  }

  var response: Response {
    switch self {
    case .apns: Self.apnsResponse
    case .fcm: Self.fcmResponse
    case .webPush: Self.webPushResponse
    case .token: Self.tokenResponse
    }
  }

  /// A response that was made in advance.
  struct Response {
    let headers: HPACKHeaders
    let body: ByteBuffer?

    init(_ headers: HPACKHeaders, _ body: String? = nil) {
      self.headers = headers
      self.body = body.map { ByteBuffer(string: $0) }
    }
  }

  private static let apnsResponse = Response([
    ":status": "200", "apns-id": "6F1C2A3B-4D5E-6F70-8192-A3B4C5D6E7F8",
  ])
  private static let fcmResponse = Response(
    [":status": "200", "content-type": "application/json; charset=UTF-8"],
    #"{"name":"projects/example-chat/messages/0:1700000000000000%0123456789abcdef"}"#)
  private static let webPushResponse = Response([":status": "201", "location": "https://push.example.com/m/1"])
  private static let tokenResponse = Response(
    [":status": "200", "content-type": "application/json; charset=UTF-8"],
    #"{"access_token":"ya29.\#(String(repeating: "a", count: 200))","expires_in":3599,"token_type":"Bearer"}"#)
  static let notFound = Response([":status": "404"])
}
