import ChatDomain
import ChatPrimitives
import ChatService

/// Identifies a creation: by an ID that the client made, by the ID derived from its `Idempotency-Key`, or, if the
/// client sent neither, by a fresh ID.
struct CreationName<Entity>: Sendable {
  let id: ID<Entity>
  /// The ID was derived from the key.
  private let isKeyed: Bool
  /// The ID was made for this request, so nothing has it yet.
  let isFresh: Bool

  /// - Parameters:
  ///   - given: the ID in the body.
  ///   - place: the room or workspace in which it is created.
  ///   - principal: the owner of the key, if that is not the caller.
  init(
    _ given: ID<Entity>?, of kind: KeyedCreation, in place: UUIDBytes = .zero, by principal: Principal? = nil,
    _ context: HansardRequestContext, _ chat: ChatService
  ) throws {
    let command = try context.command()
    isKeyed = given == nil && command != nil
    isFresh = given == nil && command == nil
    id =
      try given ?? command.map { chat.creationID(of: kind, in: place, under: $0, by: try principal ?? context.actor) }
      ?? FreshID.make()
  }

  /// Runs the creation. Only an earlier use of the key can have taken an ID that was derived from it.
  func create<Outcome: Sendable>(_ body: (ID<Entity>) async throws -> Outcome) async throws -> Outcome {
    do {
      return try await body(id)
    } catch let error as ServiceError {
      if isKeyed, case .rejected(.idInUse) = error { throw ServiceError.rejected(.idempotencyKeyReused) }
      throw error
    }
  }
}
