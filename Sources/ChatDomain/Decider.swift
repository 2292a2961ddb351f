package import ChatPrimitives

/// How one aggregate decides: a pure function from a command and a state to events, and one from an event to the state.
///
/// Nothing here waits, reads a clock or draws a random number: times and new IDs arrive in the command or its context.
package protocol Decider {
  associatedtype State: Sendable, Equatable
  associatedtype Command: RetriableCommand
  associatedtype Event: Sendable, Equatable

  /// The state of a stream that has no event.
  static var initial: State { get }

  /// Whether the actor may do this at all. Comes before the look for an earlier answer, so that a retry by someone who
  /// has lost the right is refused like any request of theirs.
  static func authorize(
    _ command: Command, by context: CommandContext, in state: State, _ directory: borrowing some Directory
  ) throws(Rejection)

  /// What happens, given that the actor may do it and that the command was not done before under the same key.
  static func decide(
    _ command: Command, by context: CommandContext, in state: State, _ directory: borrowing some Directory
  ) throws(Rejection) -> Decision<Event>

  /// The revision of what the command changes, before it; nil where that is not there, and for a command that changes
  /// nothing that has one.
  static func revision(for command: Command, in state: State) -> LogPosition?

  /// The state after an event. Total: it accepts whatever the log holds.
  /// - Parameter actor: in whose name it was recorded; nil when a service acted for itself.
  static func evolve(_ state: inout State, _ event: Event, _ stamp: Stamp, by actor: UserID?)
}

/// What is known of every command's retry.
package protocol RetriableCommand: Sendable {
  /// What the command says, whichever stream it goes to.
  var fingerprint: Fingerprint { get }
  /// Whether a retry is recognised by what the command itself names. Such a command is not to be looked up by an
  /// idempotency key.
  var isKnownByItself: Bool { get }
}

extension Decider {
  /// The one way of every command: the right first, then an earlier answer under the same key, then the decision, and
  /// at last whether the client knew what it changes.
  ///
  /// - Parameters:
  ///   - prior: what is known of an earlier command of the same actor under the same key.
  ///   - stream: the aggregate's ID, which a key is bound to.
  package static func handle(
    _ command: Command, by context: CommandContext, prior: KnownCommand?, on stream: UUIDBytes, in state: State,
    _ directory: borrowing some Directory
  ) throws(Rejection) -> Decision<Event> {
    try authorize(command, by: context, in: state, directory)
    if let prior, !command.isKnownByItself {
      return .alreadyDone(try prior.answer(to: command.fingerprint.scoped(to: stream)))
    }
    let decision = try decide(command, by: context, in: state, directory)
    if case .record = decision, let precondition = context.precondition {
      guard precondition.holds(at: revision(for: command, in: state)) else { throw .revisionMismatch }
    }
    return decision
  }
}

/// What a decision comes to, when it is not a rejection.
package enum Decision<Event: Sendable & Equatable>: Sendable, Equatable {
  /// These events are new, and become durable together or not at all.
  case record([Event])
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

/// A device: its ID is unique among its owner's alone.
package struct DeviceReference: Hashable, Sendable {
  package let user: UserID
  package let device: DeviceID

  package init(user: UserID, device: DeviceID) {
    self.user = user
    self.device = device
  }
}
