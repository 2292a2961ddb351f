import ChatDomain
import ChatPrimitives
import ChatProtocol
import ChatService
import HTTPTypes
import Hummingbird

struct SigningKeyHandlers: Sendable {
  /// How long others may cache the key set, in seconds. They fetch it again early if a token names a key that they do
  /// not have.
  static let maximumAgeSeconds = 300

  let chat: ChatService
  let issuer: TokenIssuer

  func list(_ context: HansardRequestContext) async throws -> TypedResponse<SigningKeySet> {
    let keys = try await issuer.publicKeys(at: context.receivedAt)
    return try JSONBody.response(
      SigningKeySet(keys: keys), headers: [.cacheControl: "public, max-age=\(Self.maximumAgeSeconds)"])
  }

  func rotate(_ context: HansardRequestContext) async throws -> TypedResponse<SigningKeyRotation> {
    let outcome = try await chat.rotateSigningKey(by: context.actor, command: context.command())
    let generation = chat.signingKeys.history.generation(at: outcome.stamp.position)
    return try JSONBody.receipt(
      outcome.result,
      SigningKeyRotation(kid: TokenIssuer.keyID(of: generation), position: outcome.stamp.position))
  }
}
