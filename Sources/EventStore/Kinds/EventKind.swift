/// The number and the name of each kind of fact. Numbers stand in the log and are forever; zero is reserved. No two
/// streams share a number.
package enum EventKind: Sendable, Hashable {
  case user(UserEventKind)
  case room(RoomEventKind)
  case server(ServerEventKind)
  case workspace(WorkspaceEventKind)

  /// What the tools print and filter by.
  package var name: String {
    switch self {
    case .user(let kind): kind.name
    case .room(let kind): kind.name
    case .server(let kind): kind.name
    case .workspace(let kind): kind.name
    }
  }

  package init?(name: String) {
    guard let kind = EventKind.allCases.first(where: { $0.name == name }) else { return nil }
    self = kind
  }
}

extension EventKind: RawRepresentable {
  package var rawValue: UInt16 {
    switch self {
    case .user(let kind): kind.rawValue
    case .room(let kind): kind.rawValue
    case .server(let kind): kind.rawValue
    case .workspace(let kind): kind.rawValue
    }
  }

  package init?(rawValue: UInt16) {
    if let kind = RoomEventKind(rawValue: rawValue) {
      self = .room(kind)
    } else if let kind = UserEventKind(rawValue: rawValue) {
      self = .user(kind)
    } else if let kind = WorkspaceEventKind(rawValue: rawValue) {
      self = .workspace(kind)
    } else if let kind = ServerEventKind(rawValue: rawValue) {
      self = .server(kind)
    } else {
      return nil
    }
  }
}

extension EventKind: CaseIterable {
  package static var allCases: [EventKind] {
    UserEventKind.allCases.map { .user($0) } + RoomEventKind.allCases.map { .room($0) }
      + ServerEventKind.allCases.map { .server($0) } + WorkspaceEventKind.allCases.map { .workspace($0) }
  }
}
