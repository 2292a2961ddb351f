package import ChatPrimitives

/// Decides one command about one aggregate. The rules depend only on the command, what is known and the state: no rule
/// waits, reads a clock or generates a random number.
///
/// There is one function for each command. It reads in this order: who may send it, whether it was done before, what is
/// recorded.
package protocol Decider: Sendable {
  associatedtype Entity
  associatedtype State: Sendable, Equatable
  associatedtype Command: AggregateCommand where Command.Entity == Entity
  associatedtype Event: Sendable, Equatable

  /// The state of a stream that has no event.
  static var initial: State { get }

  init(_ basis: DecisionBasis<Entity, State>)

  /// What the decision is made on.
  var basis: DecisionBasis<Entity, State> { get }

  func decide(_ command: Command, _ directory: borrowing some Directory) throws(Rejection) -> Decision<Event>

  /// The state after an event. Never fails: it accepts every event that the log can contain.
  /// - Parameter actor: the user in whose name it was recorded; nil if a service acted for itself.
  static func evolve(_ state: inout State, _ event: Event, _ stamp: Stamp, by actor: UserID?)
}

/// Everything that a decision is made on, except the command and the directory.
package struct DecisionBasis<Entity, State: Sendable>: Sendable {
  /// The aggregate's ID.
  package let id: ID<Entity>
  package let context: CommandContext
  /// The command's fingerprint.
  package let fingerprint: Fingerprint
  package let known: Known
  package let state: State

  package init(id: ID<Entity>, context: CommandContext, fingerprint: Fingerprint, known: Known, state: State) {
    self.id = id
    self.context = context
    self.fingerprint = fingerprint
    self.known = known
    self.state = state
  }
}

/// What a client asks of one aggregate: any of its commands, or any command of one family.
package protocol AggregateCommand<Entity>: Sendable {
  associatedtype Entity

  /// Equals the fingerprint of the first event that the command records, unless a comment in its family says otherwise.
  func fingerprint(by actor: UserID?) -> Fingerprint
  /// Whether a retry is recognised by the IDs in the command itself, and not by an idempotency key.
  var isKnownByItself: Bool { get }
  /// Adds the keys of what the decision needs to know, except the idempotency key.
  func addKeys(to lookup: inout Lookup, on id: ID<Entity>, by actor: UserID?)
  /// Everything that is wrong with the form of its fields, in the order in which the decision checks them.
  var fieldFlaws: [FieldFlaw] { get }
}

extension AggregateCommand {
  package var isKnownByItself: Bool { false }
  package var fieldFlaws: [FieldFlaw] { [] }

  package func addKeys(to lookup: inout Lookup, on id: ID<Entity>, by actor: UserID?) {}

  /// The keys of everything that the decision needs to know.
  package func lookup(on id: ID<Entity>, by context: CommandContext) -> Lookup {
    var lookup = Lookup()
    if !isKnownByItself { lookup.command = CommandKey(of: context) }
    addKeys(to: &lookup, on: id, by: context.actor)
    return lookup
  }
}

extension Decider {
  package static func handle(
    _ command: Command, on basis: DecisionBasis<Entity, State>, _ directory: borrowing some Directory
  ) throws(Rejection) -> Decision<Event> {
    let decision = try Self(basis).decide(command, directory)
    if case .record(_, let revision) = decision, let precondition = basis.context.precondition {
      guard precondition.holds(at: revision) else { throw .revisionMismatch }
    }
    return decision
  }

  var id: ID<Entity> { basis.id }
  var context: CommandContext { basis.context }
  var known: Known { basis.known }
  var state: State { basis.state }

  /// The earlier decision on a command that was done before under the same key; nil if it is the first time. Every
  /// command whose retry is recognised by key calls this after it has checked the actor's rights, so a retry by a user
  /// who has lost the right is refused like any other request.
  func doneBefore() throws(Rejection) -> Decision<Event>? {
    guard let key = CommandKey(of: context), let earlier = known.commands[key] else { return nil }
    return .alreadyDone(try earlier.stamp(for: basis.fingerprint.scoped(to: id.uuid)))
  }

  /// The actor, for rules that need one. A service that acts for itself is refused.
  func actor() throws(Rejection) -> UserID {
    guard let actor = context.actor else { throw .forbidden }
    return actor
  }

  func requireRegisteredActor(_ directory: borrowing some Directory) throws(Rejection) {
    try directory.requireRegistered(try actor())
  }
}

/// The result of a decision that is not a rejection.
package enum Decision<Event: Sendable & Equatable>: Sendable, Equatable {
  /// These events are new, and become durable together or not at all.
  /// - revision: the current revision of what the command changes, which is compared with `If-Match`. Nil if that does
  ///   not exist yet or has none.
  case record([Event], revision: LogPosition? = nil)
  /// What these events would create exists. They are recorded because they have the idempotency key by which a late retry
  /// is recognised, or because they change what exists.
  case recordAgain([Event])
  /// Nothing new is recorded: the log has had it since `stamp`.
  case alreadyDone(Stamp)
}

/// Where an event was recorded, and when it happened by the checked clock. The time in the record's envelope is later
/// if the clock had been ahead before (decision 0022).
package struct Stamp: Hashable, Sendable {
  package let position: LogPosition
  package let time: Timestamp

  package init(position: LogPosition, time: Timestamp) {
    self.position = position
    self.time = time
  }
}

/// What a decider can read of other streams. It is part of the state that the command is decided against.
package protocol Directory: ~Copyable {
  func user(withEmail email: String) -> UserID?
  func user(withExternalID externalID: String) -> UserID?
  func user(with identity: Identity) -> UserID?
  func isRegistered(_ user: UserID) -> Bool
  /// True also if the account was deleted.
  func isDisabled(_ user: UserID) -> Bool
  /// Whether the account was deleted.
  func isDeleted(_ user: UserID) -> Bool
  /// False also if one of them is not registered.
  func isBlocked(_ user: UserID, by blocker: UserID) -> Bool
  /// The user's preference; true also if the user is not registered.
  func acceptsDirectMessages(_ user: UserID) -> Bool
  /// The user's preferences; those of a new user also if the user is not registered.
  func contactRules(of user: UserID) -> ContactRules
  /// Whether both are members of the same room, or both are members and not guests of the same workspace. Of the user
  /// with fewer rooms, only the newest `Limits.spacesCompared` are looked at, and the same for workspaces.
  func sharesSpace(_ user: UserID, with other: UserID) -> Bool

  /// Nil if the user is not a member, or if the workspace does not exist.
  func role(of user: UserID, in workspace: WorkspaceID) -> WorkspaceRole?
  /// The direct rooms in the workspace of which the user is a member.
  func directRooms(of user: UserID, in workspace: WorkspaceID) -> Set<RoomID>
  /// The channels that are not deleted, in the order of their IDs; nil if the workspace does not exist.
  func channels(of workspace: WorkspaceID) -> [RoomID]?
  /// The room, if it is open or archived.
  func room(_ id: RoomID) -> Room?

  /// The devices that have this token, ordered by user ID and device ID. There is at most one, except in logs that were
  /// written before a token belonged to one device.
  func devices(holding token: PushToken) -> [DeviceReference]

  /// Whether an invite has a token or a code with this hash.
  func hasInvite(withHash hash: [UInt8]) -> Bool
  /// Whether the operator allows new invites that never expire.
  var allowsInvitesWithoutExpiry: Bool { get }
}

extension Directory where Self: ~Copyable {
  func requireRegistered(_ user: UserID) throws(Rejection) {
    guard isRegistered(user) else { throw .userNotFound }
  }

  /// A code depends on the invite's ID, so an invite with another ID has another code.
  func requireFreeCode(of invite: InviteLink<some InvitableRole>) throws(Rejection) {
    if let hash = invite.codeHash, hasInvite(withHash: hash) { throw .idInUse }
  }
}

/// A device. Its ID is unique only among the devices of its user.
package struct DeviceReference: Hashable, Sendable {
  package let user: UserID
  package let device: DeviceID

  package init(user: UserID, device: DeviceID) {
    self.user = user
    self.device = device
  }
}
