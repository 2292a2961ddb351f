package import ChatDomain
package import ChatPrimitives
import EventLog

/// A kind of event of any family: one row of the table of kinds. Every kind has a unique number and a unique name.
package struct EventKind: Sendable, Hashable {
  package let number: UInt16
  package let name: String
  /// The kind of streams in which it occurs.
  package let streamKind: StreamKind
  package let disclosure: Disclosure
  let read: @Sendable (PayloadReader) throws(CodecError) -> ChatEvent

  private init<Event>(
    _ kind: Kind<Event>, in streamKind: StreamKind, _ event: @escaping @Sendable (UUIDBytes, Event?) -> ChatEvent
  ) {
    number = kind.number
    name = kind.name
    self.streamKind = streamKind
    disclosure = kind.disclosure
    read = { reader throws(CodecError) in event(reader.record.envelope.stream, try kind.read(reader)) }
  }

  package init?(number: UInt16) {
    guard let kind = Self.byNumber.indices.contains(Int(number)) ? Self.byNumber[Int(number)] : nil else { return nil }
    self = kind
  }

  package init?(name: String) {
    guard let kind = Self.all.first(where: { $0.name == name }) else { return nil }
    self = kind
  }

  /// The kind of an event; nil if the event was erased.
  package init?(of event: ChatEvent) {
    var output = EventOutput(for: .fields)
    event.write(to: &output)
    guard let kind = output.kind.flatMap({ EventKind(number: $0) }) else { return nil }
    self = kind
  }

  package static func == (left: EventKind, right: EventKind) -> Bool { left.number == right.number }

  package func hash(into hasher: inout Hasher) { hasher.combine(number) }
}

// MARK: - The table

extension EventKind {
  /// Every kind, in the order of the numbers.
  package static let all: [EventKind] = (user + room + workspace + server).sorted { $0.number < $1.number }

  package static let messageSent = RoomEvent.Messages.sentKind.number
  package static let sessionStarted = UserEvent.Sessions.startedKind.number
  package static let pushOutcomesRecorded = ServerEvent.pushOutcomesRecordedKind.number

  private static let byNumber: [EventKind?] = {
    var kinds = [EventKind?](repeating: nil, count: Int(all.map(\.number).max() ?? 0) + 1)
    for kind in all { kinds[Int(kind.number)] = kind }
    return kinds
  }()

  private static let user =
    user(UserEvent.Account.kinds) { .account($0) } + user(UserEvent.Logins.kinds) { .logins($0) }
    + user(UserEvent.Sessions.kinds) { .sessions($0) } + user(UserEvent.Devices.kinds) { .devices($0) }
    + user(UserEvent.Uploads.kinds) { .media($0) } + user(UserEvent.Blocks.kinds) { .blocks($0) }
    + user(UserEvent.Deletion.kinds) { .deletion($0) }

  private static let room =
    room(RoomEvent.Lifecycle.kinds) { .lifecycle($0) } + room(RoomEvent.Sharing.kinds) { .sharing($0) }
    + room(RoomEvent.Members.kinds) { .members($0) } + room(RoomEvent.Messages.kinds) { .messages($0) }
    + room(RoomEvent.Annotations.kinds) { .annotations($0) } + room(RoomEvent.Reading.kinds) { .reading($0) }
    + room(RoomEvent.Threads.kinds) { .threads($0) } + room(RoomEvent.Scheduling.kinds) { .scheduling($0) }
    + room(RoomEvent.Reports.kinds) { .reports($0) }

  private static let workspace =
    workspace(WorkspaceEvent.Lifecycle.kinds) { .lifecycle($0) }
    + workspace(WorkspaceEvent.Sharing.kinds) { .sharing($0) }
    + workspace(WorkspaceEvent.Members.kinds) { .members($0) }
    + workspace(WorkspaceEvent.Invitations.kinds) { .invitations($0) }

  private static let server = ServerEvent.kinds.map { kind in
    EventKind(kind, in: .server) { .server($1 ?? .erased(kind: kind.number)) }
  }

  private static func user<Event>(
    _ kinds: [Kind<Event>], _ family: @escaping @Sendable (Event) -> UserEvent
  ) -> [EventKind] {
    kinds.map { kind in
      EventKind(kind, in: .user) { .user(UserID($0), $1.map(family) ?? .erased(kind: kind.number)) }
    }
  }

  private static func room<Event>(
    _ kinds: [Kind<Event>], _ family: @escaping @Sendable (Event) -> RoomEvent
  ) -> [EventKind] {
    kinds.map { kind in
      EventKind(kind, in: .room) { .room(RoomID($0), $1.map(family) ?? .erased(kind: kind.number)) }
    }
  }

  private static func workspace<Event>(
    _ kinds: [Kind<Event>], _ family: @escaping @Sendable (Event) -> WorkspaceEvent
  ) -> [EventKind] {
    kinds.map { kind in
      EventKind(kind, in: .workspace) { .workspace(WorkspaceID($0), $1.map(family) ?? .erased(kind: kind.number)) }
    }
  }
}

// MARK: - Writing

extension ChatEvent {
  /// The fields of the event that the tools show in addition to its envelope.
  package var shownFields: [(String, JSONValue)] {
    var output = EventOutput(for: .fields)
    write(to: &output)
    return output.fields
  }

  func write(to output: inout EventOutput) {
    switch self {
    case .user(_, let event): event.write(to: &output)
    case .room(_, let event): event.write(to: &output)
    case .workspace(_, let event): event.write(to: &output)
    case .server(let event): event.write(to: &output)
    }
  }
}

extension UserEvent {
  fileprivate func write(to output: inout EventOutput) {
    switch self {
    case .account(let event): event.write(to: &output)
    case .logins(let event): event.write(to: &output)
    case .sessions(let event): event.write(to: &output)
    case .devices(let event): event.write(to: &output)
    case .media(let event): event.write(to: &output)
    case .blocks(let event): event.write(to: &output)
    case .deletion(let event): event.write(to: &output)
    case .erased: break
    }
  }
}

extension RoomEvent {
  fileprivate func write(to output: inout EventOutput) {
    switch self {
    case .lifecycle(let event): event.write(to: &output)
    case .sharing(let event): event.write(to: &output)
    case .members(let event): event.write(to: &output)
    case .messages(let event): event.write(to: &output)
    case .annotations(let event): event.write(to: &output)
    case .reading(let event): event.write(to: &output)
    case .threads(let event): event.write(to: &output)
    case .scheduling(let event): event.write(to: &output)
    case .reports(let event): event.write(to: &output)
    case .erased: break
    }
  }
}

extension WorkspaceEvent {
  fileprivate func write(to output: inout EventOutput) {
    switch self {
    case .lifecycle(let event): event.write(to: &output)
    case .sharing(let event): event.write(to: &output)
    case .members(let event): event.write(to: &output)
    case .invitations(let event): event.write(to: &output)
    case .erased: break
    }
  }
}
