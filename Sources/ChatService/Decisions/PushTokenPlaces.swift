import ChatDomain
import ChatPrimitives

/// Which devices have which push token. In older logs several devices may have the same one.
struct PushTokenPlaces: Sendable, Equatable {
  /// Compares bytes, as the read models do.
  private struct Key: Hashable {
    let provider: PushProvider
    let token: [UInt8]

    init(_ token: PushToken) {
      provider = token.provider
      self.token = Array(token.token.utf8)
    }
  }

  private var places: [Key: Set<DeviceReference>] = [:]
  private var tokens: [DeviceReference: Set<Key>] = [:]

  /// Ordered by user and device, so that the same command gives the same events.
  func places(of token: PushToken) -> [DeviceReference] {
    (places[Key(token)] ?? []).sorted { ($0.user, $0.device) < ($1.user, $1.device) }
  }

  /// Replaces all tokens of the device.
  mutating func set(_ new: [PushToken], of place: DeviceReference) {
    for key in tokens.removeValue(forKey: place) ?? [] { remove(place, from: key) }
    let keys = Set(new.map { Key($0) })
    if keys.isEmpty { return }
    tokens[place] = keys
    for key in keys { places[key, default: []].insert(place) }
  }

  mutating func remove(_ token: PushToken, from place: DeviceReference) {
    let key = Key(token)
    guard tokens[place]?.remove(key) != nil else { return }
    if tokens[place]?.isEmpty == true { tokens[place] = nil }
    remove(place, from: key)
  }

  private mutating func remove(_ place: DeviceReference, from key: Key) {
    places[key]?.remove(place)
    if places[key]?.isEmpty == true { places[key] = nil }
  }
}
