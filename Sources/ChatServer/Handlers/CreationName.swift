import ChatDomain
import ChatPrimitives
import ChatService

/// By what a creation is known: an ID that the client made, the ID that follows from its `Idempotency-Key`, or, where it gave
/// neither, a fresh one.
struct CreationName<Entity>: Sendable {
  let id: ID<Entity>
  /// The ID was made of the key.
  private let isKeyed: Bool
  /// The ID was made for this request, so nothing has it yet.
  let isFresh: Bool

  /// - Parameters:
  ///   - given: the ID in the body.
  ///   - place: the room or workspace that it is created in.
  ///   - principal: whose the key is, where it is not the caller's.
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

  /// Runs the creation. An ID that was made of a key can only be taken by an earlier use of that key.
  func create<Outcome: Sendable>(_ body: (ID<Entity>) async throws -> Outcome) async throws -> Outcome {
    do {
      return try await body(id)
    } catch let error as ServiceError {
      if isKeyed, case .rejected(.idInUse) = error { throw ServiceError.rejected(.idempotencyKeyReused) }
      throw error
    }
  }
}
