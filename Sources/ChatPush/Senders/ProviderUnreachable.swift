/// No connection to the provider could be made.
struct ProviderUnreachable: Error {
  let reason: String
}

extension SendResult {
  /// Pauses the whole provider, because all devices use the same service.
  static func noConnection(_ error: ProviderUnreachable) -> SendResult {
    let reason = "no connection: \(error.reason)"
    return .providerPaused(reason: reason, failure: reason, for: .zero)
  }
}
