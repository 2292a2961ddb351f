import ChatDomain
import ChatPrimitives
import ChatProjections
import EventStore
import Testing

@testable import ChatService

/// Ended sessions and deleted rooms and workspaces leave memory but stay known: first to the writer, later to the read
/// models.
@Suite("Endings")
struct EndingTests {
  private let alice: UserID = fixed(1)
  private let session: SessionID = fixed(20)
  private let room: RoomID = fixed(10)
  private let workspace: WorkspaceID = fixed(60)

  private func stamp(_ position: UInt64) -> Stamp {
    Stamp(position: LogPosition(position), time: Timestamp(milliseconds: Int64(position)))
  }

  private var creation: RoomCreation { RoomCreation(kind: .group, name: "tea", creator: alice) }

  /// The state with Alice, a session that has ended, and a deleted room and workspace.
  private func ended(retained: Int) -> DecisionState {
    var state = DecisionState(knownIDs: KnownIDs(KnownIDFilter(), newest: .origin), floor: .origin, retained: retained)
    let events: [ChatEvent] = [
      .user(
        alice,
        .account(
          .registered(
            Registration(nickname: "Alice", email: nil, externalID: "crm-1", credential: nil, commitmentKey: [])))),
      .user(alice, .sessions(.started(session, device: nil))),
      .user(alice, .sessions(.ended(session, .loggedOut))),
      .room(room, .lifecycle(.created(creation))),
      .room(room, .members(.joined(alice, role: .owner, invite: nil))),
      .room(room, .lifecycle(.deleted)),
      .workspace(workspace, .lifecycle(.created(WorkspaceCreation(name: "Office", creator: alice)))),
      .workspace(workspace, .lifecycle(.deleted)),
    ]
    for (index, event) in events.enumerated() {
      state.take(
        RecordedEvent(
          stamp: stamp(UInt64(index) + 1), version: StreamVersion(1), actor: alice, service: nil, device: nil,
          command: nil, originalTime: nil, event: event))
    }
    return state
  }

  private func reply(
    _ state: inout DecisionState, _ operation: ChatCommand.Operation, _ ending: Ending?, asOf: UInt64
  ) -> ChatReply {
    let context = CommandContext(actor: alice, service: fixed(99), time: stamp(0).time)
    var command = ChatCommand(context: context, operation: operation, knownAsOf: LogPosition(asOf))
    if let key = command.lookup.ending { command.known.endings[key] = ending }
    return state.decide(command, next: LogPosition(100), now: stamp(100).time).reply
  }

  @Test("memory holds neither ended sessions nor deleted rooms and workspaces")
  func leavesMemory() {
    let state = ended(retained: 0)
    guard case .registered(let user)? = state.users[alice]?.state else {
      Issue.record("there is no Alice")
      return
    }
    #expect(user.sessions.isEmpty && state.rooms.isEmpty && state.workspaces.isEmpty && state.channels.isEmpty)
  }

  @Test("endings are known, before and after the read models have applied them", arguments: [false, true])
  func isKnown(isForgotten: Bool) {
    var state = ended(retained: 0)
    if isForgotten { state.forget(through: LogPosition(8)) }
    let asOf: UInt64 = isForgotten ? 8 : 0
    func found(_ ending: Ending) -> Ending? { isForgotten ? ending : nil }
    let logout = found(.session(.loggedOut, stamp(3)))
    let starting = UserCommand.sessions(.start(session, device: nil, proof: .service))
    guard case .rejected(.sessionEnded) = reply(&state, .user(alice, starting), logout, asOf: asOf) else {
      Issue.record("the session was started again")
      return
    }
    let ending = UserCommand.sessions(.end(session, .loggedOut))
    guard case .done(let outcome) = reply(&state, .user(alice, ending), logout, asOf: asOf),
      !outcome.isNew, outcome.stamp == stamp(3)
    else {
      Issue.record("the retried logout was not recognised")
      return
    }
    let deletion = found(.deletion(stamp(6), creationFingerprint: creation.fingerprint))
    guard
      case .rejected(.roomNotFound) = reply(&state, .room(room, .lifecycle(.create(creation))), deletion, asOf: asOf)
    else {
      Issue.record("the deleted room was created again")
      return
    }
    var other = creation
    other.name = "coffee"
    guard case .rejected(.idInUse) = reply(&state, .room(room, .lifecycle(.create(other))), deletion, asOf: asOf) else {
      Issue.record("the deleted room's ID was used for another one")
      return
    }
  }

  @Test("a command that was looked up before what the writer has forgotten is looked up again")
  func isOutdated() {
    var state = ended(retained: 0)
    state.forget(through: LogPosition(8))
    guard case .outdated = reply(&state, .room(room, .lifecycle(.create(creation))), nil, asOf: 5) else {
      Issue.record("decided on old knowledge")
      return
    }
  }
}
