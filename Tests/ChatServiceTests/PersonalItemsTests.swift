import ChatDomain
import ChatPrimitives
import ChatProjections
import Testing

@testable import ChatService

@Suite("What the deletion of an account changes")
struct PersonalItemsTests {
  private static let (alice, bob): (UserID, UserID) = (fixed(1), fixed(2))
  private static let link: InviteID = fixed(3)
  private static let message: MessageID = fixed(4)

  private static func invite<GivenRole>(_ role: GivenRole) -> InviteLink<GivenRole> {
    InviteLink(
      id: link, tokenHash: Array(repeating: 1, count: 32), role: role, expiresAt: .latest, maximumUses: nil)
  }

  private static let scheduled = RoomEvent.scheduling(
    .scheduled(message, ScheduledMessage(author: alice, content: .plain("later"), sendAt: .latest)))

  /// Bob's room, with Alice if anything happens there.
  private static func room(_ number: UInt64, _ later: RoomEvent...) -> [ChatEvent] {
    var events: [RoomEvent] = [
      .lifecycle(.created(RoomCreation(kind: .group, name: "tea", creator: bob))),
      .members(.joined(bob, role: .owner, invite: nil)),
    ]
    if !later.isEmpty { events.append(.members(.added(alice, role: .administrator))) }
    return (events + later).map { .room(fixed(number), $0) }
  }

  private static func workspace(_ number: UInt64, _ later: WorkspaceEvent...) -> [ChatEvent] {
    let events: [WorkspaceEvent] = [
      .lifecycle(.created(WorkspaceCreation(name: "office", creator: bob))),
      .members(.joined(bob, role: .owner, by: .service)),
    ]
    return (events + later).map { .workspace(fixed(number), $0) }
  }

  private static let history: [[ChatEvent]] = [
    room(10, .members(.roleChanged(alice, .member))),
    room(11, .sharing(.inviteCreated(invite(Role.member))), .members(.left(alice))),
    room(12, scheduled, .members(.removed(alice))),
    room(13, scheduled, .members(.banned(alice)), .scheduling(.failed(message, .notAMember))),
    room(14),
    room(15, .sharing(.inviteCreated(invite(Role.member))), scheduled, .members(.left(alice)), .lifecycle(.deleted)),
    room(16, scheduled, .members(.left(alice)), .members(.joined(alice, role: .member, invite: nil))),
    workspace(20, .invitations(.invited(alice, role: .member))),
    workspace(
      21, .invitations(.invited(alice, role: .administrator)),
      .members(.joined(alice, role: .administrator, by: .invitation)),
      .sharing(.inviteCreated(invite(WorkspaceRole.member)))),
    workspace(22, .invitations(.invited(alice, role: .member)), .invitations(.withdrawn(alice))),
    workspace(
      23, .members(.joined(alice, role: .administrator, by: .service)),
      .sharing(.inviteCreated(invite(WorkspaceRole.guest))), .members(.left(alice))),
    workspace(24, .invitations(.invited(alice, role: .member)), .lifecycle(.deleted)),
  ]

  /// The state after the history, in which Alice did everything.
  private func state() -> DecisionState {
    var state = DecisionState(knownIDs: KnownIDs(KnownIDFilter(), newest: .origin), floor: .origin)
    for (index, event) in Self.history.joined().enumerated() {
      let stamp = Stamp(position: LogPosition(UInt64(index) + 1), time: Timestamp(milliseconds: 0))
      state.take(
        RecordedEvent(
          stamp: stamp, version: StreamVersion(1), actor: Self.alice, service: nil, device: nil, command: nil,
          originalTime: nil, event: event))
    }
    return state
  }

  @Test("is found where the user is a member, or has left something")
  func deletion() {
    let rooms: [(UInt64, RoomEvent)] = [
      (10, .members(.left(Self.alice))), (11, .sharing(.inviteRevoked(Self.link))),
      (12, .scheduling(.cancelled(Self.message))), (16, .scheduling(.cancelled(Self.message))),
      (16, .members(.left(Self.alice))),
    ]
    let workspaces: [(UInt64, WorkspaceEvent)] = [
      (20, .invitations(.withdrawn(Self.alice))), (21, .sharing(.inviteRevoked(Self.link))),
      (21, .members(.left(Self.alice))), (23, .sharing(.inviteRevoked(Self.link))),
    ]
    let own: [ChatEvent] = [.user(Self.alice, .deletion(.deleted))]
    var expected = rooms.map { ChatEvent.room(fixed($0), $1) }
    expected += workspaces.map { ChatEvent.workspace(fixed($0), $1) }
    #expect(state().deletionEvents(of: Self.alice, own: own) == expected + own)
  }

  @Test("only these rooms and workspaces are looked at, also after a restart")
  func index() {
    let state = state()
    #expect(state.items.rooms(of: Self.alice) == [fixed(11), fixed(12)])
    #expect(state.items.workspaces(of: Self.alice) == [fixed(20), fixed(21), fixed(23)])
    #expect(state.spaces.rooms(of: Self.alice) == [fixed(10), fixed(16)])
    var restored = PersonalItems()
    for (id, room) in state.rooms {
      if let room = room.state.room { restored.restore(id, room) }
    }
    for (id, workspace) in state.workspaces {
      if let workspace = workspace.state.workspace { restored.restore(id, workspace) }
    }
    #expect(restored == state.items)
  }
}
