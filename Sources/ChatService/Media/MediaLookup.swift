package import ChatDomain
package import ChatPrimitives
import ChatProjections
package import MediaFiles

/// The files that a command refers to: attachments of a message, or the picture of a profile, a room or a workspace.
/// They are held from before they are looked up until the command is durable; see `docs/decisions/0018-media.md`.
extension ChatService {
  /// What is known of the files, and a hold that keeps them from being collected while it exists.
  ///
  /// - Parameters:
  ///   - ids: in any order, possibly with duplicates.
  ///   - user: the user who refers to them; nil for a service, which may refer to any file.
  /// - Returns: nil if one of them does not exist, or if the user may not see it.
  package func heldMedia(
    _ ids: [MediaID], for user: UserID?
  ) async throws(ServiceError) -> (known: [MediaID: Media], hold: MediaHold)? {
    let rows = try await mediaRows { media in try ids.compactMap { try media.media($0, for: user) } }
    guard rows.count == ids.count else { return nil }
    let hashes = Set(rows.compactMap { ContentHash($0.content.hash) })
    let hold = try await failing { try await self.media.hold(hashes) }
    guard hold.present == hashes else { return nil }
    if user != nil { for hash in hashes where try await isEvidenceOnly(hash) { return nil } }
    return (Dictionary(rows.map { ($0.id, $0.content) }) { first, _ in first }, hold)
  }

  /// Holds the picture that a command sets, if it sets one.
  /// - Throws: the rejection `mediaNotFound`.
  func pictureHold(of request: Request) async throws(ServiceError) -> MediaHold? {
    guard let picture = request.command.operation.picture else { return nil }
    guard let held = try await heldMedia([picture], for: request.command.context.actor) else {
      throw .rejected(.mediaNotFound)
    }
    return held.hold
  }
}

extension ChatCommand.Operation {
  /// The file that it sets as a picture.
  fileprivate var picture: MediaID? {
    switch self {
    case .user(_, .account(.changeProfile(let edit))): edit.picture?.media
    case .room(_, .lifecycle(.edit(let edit))): edit.picture?.media
    case .workspace(_, .lifecycle(.edit(let edit))): edit.picture?.media
    case .user, .room, .workspace, .roomInvite, .workspaceInvite, .acceptInvite, .server, .rotateSigningKey,
      .legalHold:
      nil
    }
  }
}
