import ChatDomain
import ChatPrimitives
import Testing

/// An event whose command can be recognized by a fingerprint.
protocol Traceable {
  var fingerprint: Fingerprint? { get }
}

extension UserEvent: Traceable {}
extension RoomEvent: Traceable {}
extension WorkspaceEvent: Traceable {}

extension Decider {
  /// Applies the event as if a service had recorded it as itself.
  static func evolve(_ state: inout State, _ event: Event, _ stamp: Stamp) {
    evolve(&state, event, stamp, by: nil)
  }
}

/// The state after these events. They have positions from 1, a second apart.
func given<D: Decider>(_ decider: D.Type, _ events: [D.Event]) -> Given<D> {
  var state = D.initial
  for (index, event) in events.enumerated() { D.evolve(&state, event, .at(UInt64(index) + 1)) }
  return Given(state: state)
}

/// The ID of the aggregate of a spec. For users it is alice.
func subject<Entity>() -> ID<Entity> { ID(alice.uuid) }

struct Given<D: Decider> where D.Event: Traceable {
  var state: D.State
  var known = Known()
  var directory = TestDirectory()

  func with(_ directory: TestDirectory) -> Given {
    var copy = self
    copy.directory = directory
    return copy
  }

  func knowing(_ known: Known) -> Given {
    var copy = self
    copy.known = known
    return copy
  }

  /// Decides as the writer does. In every spec the first event must have the command's fingerprint. The outcome has no
  /// revision: `PreconditionSpecs` checks revisions.
  func when(
    _ command: D.Command, by context: CommandContext, _ location: SourceLocation = #_sourceLocation
  ) -> Outcome<D> {
    let fingerprint = command.fingerprint(by: context.actor)
    let basis = DecisionBasis<D.Entity, D.State>(
      id: subject(), context: context, fingerprint: fingerprint, known: known, state: state)
    do throws(Rejection) {
      var decision = try D.handle(command, on: basis, directory)
      if case .record(let events, _) = decision { decision = .record(events) }
      switch decision {
      case .record(let events, _), .recordAgain(let events):
        #expect(!events.isEmpty, sourceLocation: location)
        let isException =
          (command as? RoomCommand)?.isOfTheServer == true || (command as? UserCommand)?.deletesAccount == true
          || (command as? RoomCommand)?.returns(with: decision) == true
        if (events.first as? UserEvent)?.endsReusedSession != true, !isException {
          #expect(events.first?.fingerprint == fingerprint, sourceLocation: location)
        }
      case .alreadyDone: break
      }
      return Outcome(result: .success(decision))
    } catch {
      return Outcome(result: .failure(error))
    }
  }
}

struct Outcome<D: Decider> {
  var result: Result<Decision<D.Event>, Rejection>

  func thenRecorded(_ events: D.Event..., location: SourceLocation = #_sourceLocation) {
    #expect(result == .success(.record(events)), sourceLocation: location)
  }

  /// The events say what was so before.
  func thenRecordedAgain(_ events: D.Event..., location: SourceLocation = #_sourceLocation) {
    #expect(result == .success(.recordAgain(events)), sourceLocation: location)
  }

  func thenRejected(_ rejection: Rejection, location: SourceLocation = #_sourceLocation) {
    #expect(result == .failure(rejection), sourceLocation: location)
  }

  /// - position: of the event that the response refers to, counted in the given events from 1.
  func thenAlreadyDone(at position: UInt64, location: SourceLocation = #_sourceLocation) {
    #expect(result == .success(.alreadyDone(.at(position))), sourceLocation: location)
  }

  func thenAccepted(location: SourceLocation = #_sourceLocation) {
    switch result {
    case .success(.record), .success(.recordAgain): break
    case .success(.alreadyDone), .failure:
      Issue.record("expected events, got \(result)", sourceLocation: location)
    }
  }
}

extension UserEvent {
  /// The only event that does not contain everything in its command: it does not say which token was reused.
  fileprivate var endsReusedSession: Bool {
    if case .sessions(.ended(_, .refreshTokenReused)) = self { true } else { false }
  }
}

extension RoomCommand {
  /// The commands that have no key: they do what an earlier command said, or what follows from a deleted account.
  fileprivate var isOfTheServer: Bool {
    switch self {
    case .scheduling(.send), .erasing: true
    case .lifecycle, .sharing, .members, .messages, .annotations, .reading, .threads, .scheduling, .reports: false
    }
  }
}

extension RoomCommand {
  /// A request for a direct room that exists adds who has returned to its workspace. It is recognised by the room's ID.
  fileprivate func returns(with decision: Decision<some Sendable & Equatable>) -> Bool {
    if case .lifecycle(.create) = self, case .recordAgain = decision { true } else { false }
  }
}

extension UserCommand {
  /// The deletion is the last of its events, and needs no key.
  fileprivate var deletesAccount: Bool {
    if case .deletion(.deleteAccount) = self { true } else { false }
  }
}

struct TestDirectory: Directory {
  var emails: [String: UserID] = [:]
  var externalIDs: [String: UserID] = [:]
  var identities: [Identity: UserID] = [:]
  var devices: [PushToken: [DeviceReference]] = [:]
  var registered: Set<UserID> = [alice, bob, carol, dave]
  var disabled: Set<UserID> = []
  var deleted: Set<UserID> = [ghost]
  /// The users whom each user blocks.
  var blocked: [UserID: Set<UserID>] = [:]
  var refusingDirectMessages: Set<UserID> = []
  var contacts: [UserID: ContactRules] = [:]
  /// The users with whom each user shares a room or a workspace.
  var acquaintances: [UserID: Set<UserID>] = [:]
  /// The members of each workspace.
  var workspaces: [WorkspaceID: [UserID: WorkspaceRole]] = [:]
  var rooms: [RoomID: Room] = [:]
  var allowsInvitesWithoutExpiry = false
  /// The hashes of the tokens and codes of invites.
  var inviteHashes: Set<[UInt8]> = []
  var directRooms: [UserID: Set<RoomID>] = [:]

  func user(withEmail email: String) -> UserID? { emails[email] }
  func user(withExternalID externalID: String) -> UserID? { externalIDs[externalID] }
  func user(with identity: Identity) -> UserID? { identities[identity] }
  func devices(holding token: PushToken) -> [DeviceReference] { devices[token] ?? [] }
  func isRegistered(_ user: UserID) -> Bool { registered.contains(user) }
  func isDisabled(_ user: UserID) -> Bool { disabled.contains(user) }
  func isDeleted(_ user: UserID) -> Bool { deleted.contains(user) }
  func isBlocked(_ user: UserID, by blocker: UserID) -> Bool { blocked[blocker]?.contains(user) == true }
  func acceptsDirectMessages(_ user: UserID) -> Bool { !refusingDirectMessages.contains(user) }
  func contactRules(of user: UserID) -> ContactRules { contacts[user] ?? ContactRules() }
  func sharesSpace(_ user: UserID, with other: UserID) -> Bool { acquaintances[user]?.contains(other) == true }
  func role(of user: UserID, in workspace: WorkspaceID) -> WorkspaceRole? { workspaces[workspace]?[user] }
  func room(_ id: RoomID) -> Room? { rooms[id] }
  func hasInvite(withHash hash: [UInt8]) -> Bool { inviteHashes.contains(hash) }
  func directRooms(of user: UserID, in workspace: WorkspaceID) -> Set<RoomID> { directRooms[user] ?? [] }

  func channels(of workspace: WorkspaceID) -> [RoomID]? {
    guard workspaces[workspace] != nil else { return nil }
    return rooms.filter { $0.value.workspace == workspace && $0.value.kind != .direct }.keys.sorted()
  }
}
