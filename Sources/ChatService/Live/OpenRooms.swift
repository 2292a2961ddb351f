import ChatPrimitives

/// The rooms that devices show on a stream.
struct OpenRooms: Sendable {
  private struct Device: Hashable, Sendable {
    var user: UserID
    var device: DeviceID
  }

  private var rooms: [Device: Set<RoomID>] = [:]

  func contains(_ room: RoomID, _ device: DeviceID, of user: UserID) -> Bool {
    rooms[Device(user: user, device: device)]?.contains(room) ?? false
  }

  mutating func set(_ open: Set<RoomID>, _ device: DeviceID, of user: UserID) {
    rooms[Device(user: user, device: device)] = open.isEmpty ? nil : open
  }
}
