import ChatDomain
import ChatPrimitives
import ChatProjections
import ChatService
import Testing

@Suite("Whether two users share a room or a workspace")
struct SharedSpacesTests {
  private static let (alice, bob): (UserID, UserID) = (fixed(1), fixed(2))

  private func state() -> DecisionState {
    DecisionState(knownIDs: KnownIDs(KnownIDFilter(), newest: .origin), floor: .origin)
  }

  private func take(_ events: [ChatEvent], _ state: inout DecisionState, from first: UInt64 = 1) {
    for (index, event) in events.enumerated() {
      let position = LogPosition(first + UInt64(index))
      state.take(
        RecordedEvent(
          stamp: Stamp(position: position, time: Timestamp(milliseconds: 0)), version: StreamVersion(1), actor: nil,
          service: nil, device: nil, command: nil, originalTime: nil, event: event))
    }
  }

  private func room(_ number: UInt64, _ members: UserID...) -> [ChatEvent] {
    let id: RoomID = fixed(number)
    let joined = members.map { ChatEvent.room(id, .members(.joined($0, role: .member, invite: nil))) }
    return [.room(id, .lifecycle(.created(RoomCreation(kind: .group, name: "tea", creator: members.first))))] + joined
  }

  private func isShared(_ state: DecisionState) -> Bool {
    let shared = state.sharesSpace(Self.alice, with: Self.bob)
    #expect(state.sharesSpace(Self.bob, with: Self.alice) == shared)
    return shared
  }

  @Test("until one of them leaves, or the room is deleted")
  func ends() {
    for end in [
      RoomEvent.members(.left(Self.bob)), .members(.removed(Self.alice)), .members(.banned(Self.bob)),
      .lifecycle(.deleted),
    ] {
      var state = state()
      #expect(!isShared(state))
      take(room(10, Self.alice, Self.bob) + room(11, Self.alice), &state)
      #expect(isShared(state))
      take([.room(fixed(10), end)], &state, from: 100)
      #expect(!isShared(state))
    }
  }

  @Test("a workspace counts only for members who are not guests")
  func workspaces() {
    var state = state()
    let id: WorkspaceID = fixed(20)
    take(
      [
        .workspace(id, .lifecycle(.created(WorkspaceCreation(name: "office", creator: Self.alice)))),
        .workspace(id, .members(.joined(Self.alice, role: .owner, by: .service))),
        .workspace(id, .members(.joined(Self.bob, role: .guest, by: .service))),
      ], &state)
    #expect(!isShared(state))
    take([.workspace(id, .members(.roleChanged(Self.bob, .member)))], &state, from: 10)
    #expect(isShared(state))
    take([.workspace(id, .members(.left(Self.bob)))], &state, from: 11)
    #expect(!isShared(state))
  }

  @Test(
    "the newest rooms of the user with fewer rooms are looked at",
    arguments: [(Limits.spacesCompared - 1, true), (Limits.spacesCompared, false), (Limits.spacesCompared + 1, false)])
  func limit(newer: Int, isShared: Bool) {
    var state = state()
    take(room(10, Self.alice, Self.bob), &state)
    for number in 0..<UInt64(newer) {
      take(room(1000 + number, Self.alice) + room(5000 + number, Self.bob), &state, from: 10 + number * 10)
    }
    #expect(self.isShared(state) == isShared)
    // Bob now has fewer rooms, and all of them are looked at.
    take((0..<UInt64(newer)).map { .room(fixed(5000 + $0), .members(.left(Self.bob))) }, &state, from: 90_000)
    #expect(self.isShared(state))
  }
}
