import ChatDomain
import ChatPrimitives
import ChatProjections
import EventStore

/// The part of the state that comes from `accounts` and `usage`.
struct RestoredUsers: Sendable {
  var users: [UserID: Versioned<UserState>] = [:]
  var names = UniqueNames()
  let serverVersion: StreamVersion
  let signingKeys: SigningKeyHistory
  let holds: LegalHolds
  let usage: DailyUsage

  /// Blocks on the disk.
  init(_ source: DecisionStateSource, usedAt now: Timestamp) throws {
    let versions = try source.userVersions()
    let states = try source.users().states
    users.reserveCapacity(states.count)
    for (id, state) in states {
      users[id] = Versioned(state: state, version: versions[id.uuid] ?? .none)
      if case .registered(let user) = state { names.enter(id, user) }
    }
    serverVersion = versions[.zero] ?? .none
    signingKeys = try source.signingKeys()
    holds = try source.legalHolds()
    usage = try source.usage(at: now)
  }
}
