package import ChatDomain
package import ChatPrimitives

/// What a client creates that may name it by an `Idempotency-Key` instead of an ID of its own making. The raw values are
/// part of how IDs are made.
package enum KeyedCreation: UInt8, Sendable {
  case room = 1
  case workspace = 2
  case roomInvite = 3
  case workspaceInvite = 4
  case account = 5
  case session = 6
}

extension ChatService {
  /// The ID of what is created under a key: made of who asks and the key, under the server's key, so that a retry is the
  /// same creation for ever, and nobody else comes to the same ID.
  ///
  /// The user does not exist yet, so the key alone makes the ID of that account. A stranger who knows the key gets no
  /// further than one who knows the ID: a repeat needs the password, and is counted as a login.
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
