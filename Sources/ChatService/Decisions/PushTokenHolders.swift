import ChatDomain
import ChatPrimitives

/// Which devices have which push token. In older logs several devices may have the same one.
struct PushTokenHolders: Sendable, Equatable {
  /// Compares bytes, as the read models do.
  private struct Key: Hashable {
    let provider: PushProvider
    let token: [UInt8]

    init(_ token: PushToken) {
      provider = token.provider
      self.token = Array(token.token.utf8)
    }
  }

  private var holders: [Key: Set<DeviceReference>] = [:]
  private var tokens: [DeviceReference: Set<Key>] = [:]

  /// Ordered by user and device, so that the same command gives the same events.
  func devices(holding token: PushToken) -> [DeviceReference] {
    (holders[Key(token)] ?? []).sorted { ($0.user, $0.device) < ($1.user, $1.device) }
  }

  /// Replaces all tokens of the device.
  mutating func set(_ new: [PushToken], of device: DeviceReference) {
    for key in tokens.removeValue(forKey: device) ?? [] { remove(device, from: key) }
    let keys = Set(new.map { Key($0) })
    if keys.isEmpty { return }
    tokens[device] = keys
    for key in keys { holders[key, default: []].insert(device) }
  }

  mutating func remove(_ token: PushToken, from device: DeviceReference) { take(Key(token), from: device) }

  mutating func removeToken(of provider: PushProvider, from device: DeviceReference) {
    for key in tokens[device] ?? [] where key.provider == provider { take(key, from: device) }
  }

  private mutating func take(_ key: Key, from device: DeviceReference) {
    guard tokens[device]?.remove(key) != nil else { return }
    if tokens[device]?.isEmpty == true { tokens[device] = nil }
    remove(device, from: key)
  }

  private mutating func remove(_ device: DeviceReference, from key: Key) {
    holders[key]?.remove(device)
    if holders[key]?.isEmpty == true { holders[key] = nil }
  }
}
