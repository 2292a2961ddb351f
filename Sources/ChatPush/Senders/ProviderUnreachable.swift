/// No connection to the provider could be made.
struct ProviderUnreachable: Error {
  let reason: String
}

extension SendResult {
  /// The provider has only one service, so it is paused.
  static func noConnection(_ error: ProviderUnreachable) -> SendResult {
    let reason = "no connection: \(error.reason)"
    return .providerPaused(reason: reason, failure: reason, for: .zero)
  }
}
