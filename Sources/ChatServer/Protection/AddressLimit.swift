import Logging

/// Limits what each address, or each IPv6 /64, holds at once, and warns when one exceeds the limit.
struct AddressLimit: Sendable {
  private let held: KeyedLimit<NetworkAddress?>
  private let warnings: AddressWarnings

  /// - Parameters:
  ///   - name: the name of the limit, for the warning.
  ///   - warning: what happens to an address that exceeds it, as a sentence without its full stop.
  init(_ limit: Int, name: String, warning: String) {
    held = KeyedLimit(limit)
    warnings = AddressWarnings(warning, limit: (name, limit))
  }

  /// - Returns: nil, after a warning, if the address would exceed its limit.
  func reserve(
    _ amount: Int = 1, for address: NetworkAddress?, _ logger: Logger
  ) -> KeyedLimit<NetworkAddress?>.Reservation? {
    if let reservation = held.reserve(amount, for: address?.network) { return reservation }
    warnings.warn(of: address, logger)
    return nil
  }
}
