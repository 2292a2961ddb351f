package import ChatDomain
package import ChatPrimitives
import ChatProjections
package import MediaFiles

/// How a command refers to media: a message by its attachments, a profile, a room or a workspace by its picture. The
/// files are held from before they are looked for until the command is durable; see `docs/decisions/0018-media.md`.
extension ChatService {
  /// What is known of the media, and what keeps their files from being collected while it is there.
  ///
  /// - Parameters:
  ///   - ids: in any order, also the same one twice.
  ///   - user: who refers to them; nil for a service, which may refer to any.
  /// - Returns: nil when one of them is not there, or the user may not see it.
  package func heldMedia(
    _ ids: [MediaID], for user: UserID?
  ) async throws(ServiceError) -> (known: [MediaID: Media], hold: MediaHold)? {
    let rows = try await mediaRows { media in try ids.compactMap { try media.media($0, for: user) } }
    guard rows.count == ids.count else { return nil }
    let hashes = Set(rows.compactMap { ContentHash($0.content.hash) })
    let hold = try await failing { try await self.media.hold(hashes) }
    guard hold.present == hashes else { return nil }
    return (Dictionary(rows.map { ($0.id, $0.content) }) { first, _ in first }, hold)
  }

  /// Holds the picture that a command sets, if it sets one.
  /// - Throws: the rejection `mediaNotFound`.
  func pictureHold(of request: Request) async throws(ServiceError) -> MediaHold? {
    guard let picture = request.operation.picture else { return nil }
    guard let held = try await heldMedia([picture], for: request.context.actor) else { throw .rejected(.mediaNotFound) }
    return held.hold
  }
}

extension ChatCommand.Operation {
  /// The medium that it makes the picture of something.
  fileprivate var picture: MediaID? {
    switch self {
    case .user(_, .account(.changeProfile(let edit))): edit.picture?.media
    case .room(_, .lifecycle(.edit(let edit))): edit.picture?.media
    case .workspace(_, .lifecycle(.edit(let edit))): edit.picture?.media
    case .user, .room, .workspace, .roomInvite, .workspaceInvite, .acceptInvite, .server, .rotateSigningKey: nil
    }
  }
}
