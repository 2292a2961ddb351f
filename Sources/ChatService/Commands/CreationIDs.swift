package import ChatDomain
package import ChatPrimitives

/// What a client can create with an `Idempotency-Key` instead of choosing an ID. The raw values are part of the input
/// from which IDs are derived.
package enum KeyedCreation: UInt8, Sendable {
  case room = 1
  case workspace = 2
  case roomInvite = 3
  case workspaceInvite = 4
  case account = 5
  case session = 6
  case report = 7
}

extension ChatService {
  /// The ID of something that is created with a key. It is derived from the actor and the key with the server's key, so
  /// a retry always gets the same ID, and no other actor can get it.
  ///
  /// An account does not exist before its registration, so its ID depends only on the key. A stranger who knows the key
  /// gains no more than one who knows the ID: a retry needs the password and counts as a login.
  /// - Parameter place: the room or workspace that it is created in.
  package func creationID<Entity>(
    of kind: KeyedCreation, in place: UUIDBytes = .zero, under command: CommandID, by principal: Principal
  ) -> ID<Entity> {
    let actor = principal.user?.uuid ?? principal.service?.uuid ?? .zero
    let code = keys.authenticationCode(
      for: "creation-id", [kind.rawValue] + actor.bytes + place.bytes + command.uuid.bytes)
    return ID(UUIDBytes(bytes: code.prefix(UUIDBytes.byteCount)) ?? .zero)
  }
}
