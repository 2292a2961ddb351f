package import ChatPrimitives

/// Decides one command about one aggregate. Its rules are functions of the command, what is known and the state; nothing
/// here waits, reads a clock or draws a random number.
///
/// There is one function for each command. It reads in this order: who may do it, whether it was done before, what is
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

  /// The state after an event. Total: it accepts whatever the log holds.
  /// - Parameter actor: in whose name it was recorded; nil when a service acted for itself.
  static func evolve(_ state: inout State, _ event: Event, _ stamp: Stamp, by actor: UserID?)
}

/// What a command is decided on.
package struct DecisionBasis<Entity, State: Sendable>: Sendable {
  /// The aggregate's.
  package let id: ID<Entity>
  package let context: CommandContext
  /// Of the command.
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

/// What a client asks of one aggregate: any of its commands, or those of one family.
package protocol AggregateCommand<Entity>: Sendable {
  associatedtype Entity

  /// What the command says, whichever aggregate it goes to. Equal to the fingerprint of the first event that it records.
  func fingerprint(by actor: UserID?) -> Fingerprint
  /// Whether a retry is recognised by what the command itself names, and not by an idempotency key.
  var isKnownByItself: Bool { get }
  /// Adds the keys of what the decision needs to know, beside the command's own.
  func addKeys(to lookup: inout Lookup, on id: ID<Entity>, by actor: UserID?)
}

extension AggregateCommand {
  package var isKnownByItself: Bool { false }

  package func addKeys(to lookup: inout Lookup, on id: ID<Entity>, by actor: UserID?) {}

  /// The keys of all that the decision needs to know.
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

  /// The decision on a command that was done before under the same key; nil when this is the first time. Every command
  /// that is not known by itself returns it, after the check of rights: so a retry by someone who has lost the right is
  /// refused like any of their requests.
  func doneBefore() throws(Rejection) -> Decision<Event>? {
    guard let key = CommandKey(of: context), let earlier = known.commands[key] else { return nil }
    return .alreadyDone(try earlier.stamp(for: basis.fingerprint.scoped(to: id.uuid)))
  }

  /// Every command that needs an actor got one, else the check of rights has refused it.
  func actor() throws(Rejection) -> UserID {
    guard let actor = context.actor else { throw .forbidden }
    return actor
  }
}

/// What a decision comes to, when it is not a rejection.
package enum Decision<Event: Sendable & Equatable>: Sendable, Equatable {
  /// These events are new, and become durable together or not at all.
  /// - revision: of what the command changes, before it, which `If-Match` is compared with; nil for a command that changes
  ///   nothing that has one, and where that is not there.
  case record([Event], revision: LogPosition? = nil)
  /// Nothing is new: it has stood in the log since `stamp`.
  case alreadyDone(Stamp)
}

/// Where an event was recorded, and when it happened by the server's checked clock. The time in the record's envelope
/// is later after the clock was ahead (decision 0022).
package struct Stamp: Hashable, Sendable {
  package let position: LogPosition
  package let time: Timestamp

  package init(position: LogPosition, time: Timestamp) {
    self.position = position
    self.time = time
  }
}

/// What deciders see of other streams than their own: read-only, and a part of the state decided against.
package protocol Directory: ~Copyable {
  func user(withEmail email: String) -> UserID?
  func user(withExternalID externalID: String) -> UserID?
  func user(with identity: Identity) -> UserID?
  func isRegistered(_ user: UserID) -> Bool
  func isDisabled(_ user: UserID) -> Bool

  /// nil for who is no member, and where there is no such workspace.
  func role(of user: UserID, in workspace: WorkspaceID) -> WorkspaceRole?
  /// Those that are not deleted, in the order of their IDs; nil where there is no such workspace.
  func channels(of workspace: WorkspaceID) -> [RoomID]?
  /// Open or archived.
  func room(_ id: RoomID) -> Room?

  /// The devices that have this token, in the order of their owners' and their own IDs. One, but for logs from before a
  /// token belonged to one device.
  func devices(holding token: PushToken) -> [DeviceReference]
}

extension Directory where Self: ~Copyable {
  func requireRegistered(_ user: UserID) throws(Rejection) {
    guard isRegistered(user) else { throw .userNotFound }
  }
}

/// A device: its ID is unique among its owner's alone.
package struct DeviceReference: Hashable, Sendable {
  package let user: UserID
  package let device: DeviceID

  package init(user: UserID, device: DeviceID) {
    self.user = user
    self.device = device
  }
}
