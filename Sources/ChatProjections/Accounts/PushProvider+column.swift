package import ChatDomain

extension PushProvider {
  /// The column with the provider's token, in each table of devices.
  package var column: String {
    switch self {
    case .apns: "apnsToken"
    case .fcm: "fcmToken"
    case .webPush: "webPushToken"
    }
  }
}
