package import ChatDomain
package import ChatPrimitives
package import ChatProjections
import EventStore
package import MediaFiles

extension ChatService {
  /// A file and its bytes.
  /// - Parameter user: the user who asks; nil for a service.
  /// - Throws: the rejection `mediaNotFound` if the user may not see the file, or if its bytes are missing.
  package func media(
    _ id: MediaID, for user: UserID?
  ) async throws(ServiceError) -> (row: MediaRow, file: StoredFile) {
    let (row, hash) = try await visibleMedia(id, for: user)
    guard let file = try await failing({ try await self.media.open(hash) }) else { throw .rejected(.mediaNotFound) }
    return (row, file)
  }

  /// A small image of a file.
  /// - Parameter width: in pixels.
  package func thumbnail(
    of id: MediaID, width: Int, for user: UserID?
  ) async throws(ServiceError) -> (row: MediaRow, thumbnail: Thumbnail) {
    let (row, hash) = try await visibleMedia(id, for: user)
    let content = row.content
    let size = content.width.flatMap { width in content.height.map { ImageSize(width: width, height: $0) } }
    let thumbnail = try await failing {
      try await self.media.thumbnail(of: hash, type: content.contentType, size: size, width: width, for: user)
    }
    guard let thumbnail else { throw .rejected(.mediaNotFound) }
    return (row, thumbnail)
  }

  /// The grants for those of these files that the user can see, in their order. A grant is checked again with each
  /// download.
  package func mediaGrants(
    for files: [(media: MediaID, width: Int?)], to principal: Principal
  ) async throws(ServiceError) -> [MediaGrant] {
    guard let user = principal.user else { throw .rejected(.forbidden) }
    if let session = principal.session, isEnded(session, of: user) { throw .rejected(.sessionEnded) }
    let expiresAt = MediaSignatures.expiry(at: now())
    var grants: [MediaGrant] = []
    for file in files {
      do throws(ServiceError) {
        _ = try await visibleMedia(file.media, for: user)
      } catch {
        if case .rejected(.mediaNotFound) = error { continue }
        throw error
      }
      grants.append(
        MediaGrant(
          media: file.media, width: file.width, user: user, session: principal.session, expiresAt: expiresAt))
    }
    return grants
  }

  package var mediaSignatures: MediaSignatures { MediaSignatures(keys) }

  /// Whether the programs that make thumbnails are installed.
  package var makesThumbnails: Bool { media.makesThumbnails }

  private func visibleMedia(_ id: MediaID, for user: UserID?) async throws(ServiceError) -> (MediaRow, ContentHash) {
    guard let row = try await mediaRows({ try $0.media(id, for: user) }), let hash = ContentHash(row.content.hash)
    else { throw .rejected(.mediaNotFound) }
    if user != nil, try await isEvidenceOnly(hash) { throw .rejected(.mediaNotFound) }
    return (row, hash)
  }

  func mediaRows<T: Sendable>(
    _ body: @escaping @Sendable (MediaQueries) throws -> T
  ) async throws(ServiceError) -> T {
    let head = store.head
    return try await failing {
      try await self.readModels.media.wait(for: head)
      return try await self.readModels.media.read(body)
    }
  }
}
