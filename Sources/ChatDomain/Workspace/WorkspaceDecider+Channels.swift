package import ChatPrimitives

extension WorkspaceDecider {
  /// How a workspace's new events change its rooms: a user who leaves the workspace also leaves its channels and direct
  /// rooms, and a deletion deletes the channels. Recorded together with these events.
  ///
  /// The direct rooms of a deleted workspace stay with their members, who can only read them. There can be millions of
  /// them, too many for one command.
  package static func consequences(
    of events: [WorkspaceEvent], in workspace: WorkspaceID, _ directory: borrowing some Directory
  ) -> [ChatEvent] {
    var consequences: [ChatEvent] = []
    for event in events {
      switch event {
      case .members(.left(let user)):
        consequences += departures(of: user, by: .members(.left(user)), from: workspace, directory)
      case .members(.removed(let user)):
        consequences += departures(of: user, by: .members(.removed(user)), from: workspace, directory)
      case .lifecycle(.deleted):
        consequences += (directory.channels(of: workspace) ?? []).map { .room($0, .lifecycle(.deleted)) }
      case .lifecycle(.created), .lifecycle(.edited), .sharing, .members(.joined), .members(.admissionRepeated),
        .members(.roleChanged), .invitations, .erased:
        break
      }
    }
    return consequences
  }

  private static func departures(
    of user: UserID, by event: RoomEvent, from workspace: WorkspaceID, _ directory: borrowing some Directory
  ) -> [ChatEvent] {
    var consequences: [ChatEvent] = []
    for channel in directory.channels(of: workspace) ?? [] {
      guard let room = directory.room(channel), room.members[user] != nil else { continue }
      consequences += room.departure(of: user, by: event).map { .room(channel, $0) }
    }
    for room in directory.directRooms(of: user, in: workspace).sorted() { consequences.append(.room(room, event)) }
    return consequences
  }
}
