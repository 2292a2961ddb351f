import ChatPrimitives
import ChatService
import Crypto
import NIOHTTP1

/// A message for a browser (RFC 8030).
enum WebPushRequest {
  /// The maximum length of `Topic` (RFC 8030, section 5.4).
  static let topicCharacters = 32
  static let acceptedStatuses: Range<UInt> = 200..<300
  /// The statuses with which a push service refuses the server's key (RFC 8292, section 4.2).
  static let refusedKeyStatuses: [UInt] = [401, 403]
  /// The status with which a push service can ask for a pause, with `Retry-After`.
  static let unavailableStatus: UInt = 503
  /// The delay after a 429 without `Retry-After`, in seconds.
  private static let tooManySeconds: Int64 = 60

  static func headers(_ payload: PushPayload, authorization: String, at now: Timestamp) -> HTTPHeaders {
    let urgency =
      switch payload.style {
      case .alert, .localizedAlert: "high"
      case .silent: "normal"
      }
    return [
      "authorization": authorization, "ttl": String(payload.secondsLeft(at: now)), "urgency": urgency,
      "topic": topic(payload), "content-encoding": "aes128gcm", "content-type": "application/octet-stream",
    ]
  }

  /// A message replaces one with the same topic that the browser has not received yet. An alert has a topic of its own,
  /// so only its repeat replaces it. The topic of a silent notification is a hash of its collapse ID.
  static func topic(_ payload: PushPayload) -> String {
    let text = payload.collapseID.map { Hexadecimal.text(SHA256.hash(data: Array($0.utf8))) } ?? payload.deliveryKey
    return String(decoding: text.utf8.prefix(topicCharacters), as: UTF8.self)
  }

  /// The content before encryption.
  /// - Returns: nil if it does not fit without any text.
  static func content(_ payload: PushPayload) -> [UInt8]? {
    let fields = payload.fields
    return payload.fitting(WebPushEncryption.contentBytes) { style in
      JSONValue.object(fields + style.fields).bytes
    }
  }

  /// What a response means (RFC 8030, section 5; RFC 8292, section 4), except for
  /// `refusedKeyStatuses` (see `KeyRefusals`) and a request for a pause (see `OriginPauses`).
  static func result(_ response: ProviderClient.Response) -> SendResult {
    let text = String(response.status)
    return switch response.status {
    case acceptedStatuses: .delivered(response: text)
    case 404, 410: .tokenInvalid(response: text)
    case 408, 425: .failed(reason: text, retryAfter: response.retryAfter)
    case 429: .failed(reason: text, retryAfter: response.retryAfter ?? .seconds(tooManySeconds))
    case 300..<500: .rejected(response: text)
    default: .failed(reason: text, retryAfter: response.retryAfter)
    }
  }
}
