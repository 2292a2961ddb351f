package import ChatPrimitives

extension WorkspaceDecider {
  /// What a workspace's new facts mean for its channels: who leaves it leaves them, and they go with it. Recorded with
  /// these facts, in one command.
  package static func consequences(
    of events: [WorkspaceEvent], in workspace: WorkspaceID, _ directory: borrowing some Directory
  ) -> [ChatEvent] {
    var facts: [ChatEvent] = []
    for event in events {
      switch event {
      case .members(.left(let user)):
        facts += departures(of: user, by: .members(.left(user)), from: workspace, directory)
      case .members(.removed(let user)):
        facts += departures(of: user, by: .members(.removed(user)), from: workspace, directory)
      case .lifecycle(.deleted):
        facts += (directory.channels(of: workspace) ?? []).map { .room($0, .lifecycle(.deleted)) }
      case .lifecycle(.created), .lifecycle(.edited), .sharing, .members(.joined), .members(.admissionRepeated),
        .members(.roleChanged), .invitations, .erased:
        break
      }
    }
    return facts
  }

  private static func departures(
    of user: UserID, by fact: RoomEvent, from workspace: WorkspaceID, _ directory: borrowing some Directory
  ) -> [ChatEvent] {
    var facts: [ChatEvent] = []
    for channel in directory.channels(of: workspace) ?? [] {
      guard let room = directory.room(channel), room.members[user] != nil else { continue }
      facts += RoomDecider.departure(of: user, by: fact, from: room).map { .room(channel, $0) }
    }
    return facts
  }
}
