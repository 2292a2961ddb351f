package import ChatPrimitives

extension ChatEvent {
  /// What an idempotency key is bound to: the event's content and its stream. A key that was used in one room cannot be
  /// used in another. Nil if the payload was erased.
  package var commandFingerprint: Fingerprint? {
    switch self {
    case .user(let id, let event): event.fingerprint?.scoped(to: id.uuid)
    case .room(let id, let event): event.fingerprint?.scoped(to: id.uuid)
    case .workspace(let id, let event): event.fingerprint?.scoped(to: id.uuid)
    case .server(let event): event.fingerprint?.scoped(to: .zero)
    }
  }
}

extension Fingerprint {
  /// The fingerprint of the same content in one stream.
  package func scoped(to stream: UUIDBytes) -> Fingerprint {
    Fingerprint(.id(stream), .id(bytes))
  }
}
