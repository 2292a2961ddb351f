package import ChatDomain
package import ChatPrimitives
package import ChatProjections
import EventStore
import MediaFiles
package import NIOCore

/// What an upload came to.
package struct Upload: Sendable, Hashable {
  package let row: MediaRow
  package let isNew: Bool
}

extension ChatService {
  /// Takes a file in, and records that the user has uploaded it. The same content from the same user is the same medium
  /// for ever, under the name that it had first.
  ///
  /// The file is synced, and its name too, before the event is decided; a failure in between leaves a file that nothing
  /// refers to, and that is collected. What would be refused anyway does not come so far, and what is refused then leaves
  /// no file.
  package func upload<Body: AsyncSequence>(
    _ body: Body, name: String?, by principal: Principal
  ) async throws(ServiceError) -> Upload where Body.Element == ByteBuffer {
    guard let user = principal.user else { throw .rejected(.userNotFound) }
    if let name { try check(uploadName: name) }
    let file = try await receive(body, of: user)
    return try await failing {
      do {
        try self.checkUploader(user, principal)
        try await self.checkQuota(of: file, user, principal)
        let size = try await self.media.imageSize(of: file, from: user)
        let content = Media(
          hash: file.hash.bytes, contentType: file.contentType, size: UInt64(file.size), width: size?.width,
          height: size?.height)
        return try await self.keep(file, as: content, name, of: user, by: principal)
      } catch {
        await self.media.discard(file)
        if case ServiceError.rejected = error { await self.forget(file.hash) }
        throw error
      }
    }
  }

  private func receive<Body: AsyncSequence>(
    _ body: Body, of user: UserID
  ) async throws(ServiceError) -> ReceivedFile where Body.Element == ByteBuffer {
    do {
      return try await media.receive(body, of: user)
    } catch let error as MediaError {
      throw ServiceError(error)
    } catch is CancellationError {
      throw .cancelled
    } catch {
      throw .unreadable(error)
    }
  }

  /// Refuses an upload before any of it is taken, as far as can be told.
  /// - Parameter bytes: how many will come; nil when that is not known.
  package func checkUpload(bytes: Int?, name: String?, by principal: Principal) async throws(ServiceError) {
    guard let user = principal.user else { throw .rejected(.userNotFound) }
    if let name { try check(uploadName: name) }
    try checkUploader(user, principal)
    guard let bytes else { return }
    let limit = media.settings.maximumBytes
    guard bytes <= limit else { throw .media(.tooLarge(limit: limit)) }
    let size = UInt64(clamping: bytes)
    guard try await !isWithinQuota(size, user, principal) else { return }
    // It may be a repeat, which is answered whatever was used since.
    guard try await mediaRows({ try $0.hasUpload(by: user, size: size) }) else { throw .rejected(.quotaExceeded) }
  }

  /// What the writer would see too, but only when the file is there.
  private func checkUploader(_ user: UserID, _ principal: Principal) throws(ServiceError) {
    guard principal.service == nil else { return }
    if let session = principal.session {
      guard !isEnded(session, of: user) else { throw .rejected(.sessionEnded) }
    } else if isDisabled(user) {
      throw .rejected(.accountDisabled)
    }
  }

  private func checkQuota(of file: ReceivedFile, _ user: UserID, _ principal: Principal) async throws(ServiceError) {
    guard try await !isWithinQuota(UInt64(clamping: file.size), user, principal) else { return }
    let id = mediaID(of: file.hash.bytes, by: user)
    guard try await mediaRows({ try $0.media(id, for: user) }) != nil else { throw .rejected(.quotaExceeded) }
  }

  /// Whether the user may upload so many bytes more today, as of now. The writer decides it again, for uploads at once.
  private func isWithinQuota(
    _ bytes: UInt64, _ user: UserID, _ principal: Principal
  ) async throws(ServiceError) -> Bool {
    guard quotas.mediaBytesPerDay != nil, principal.service == nil else { return true }
    let head = store.head
    let used = try await failing {
      try await self.views.usage.wait(for: head)
      return try await self.views.usage.read { try $0.lastDay(of: user) }
    }
    do throws(Rejection) {
      try used.check(Usage(mediaBytes: bytes), by: user, at: now(), under: quotas)
      return true
    } catch {
      return false
    }
  }

  private func keep(
    _ file: ReceivedFile, as content: Media, _ name: String?, of user: UserID, by principal: Principal
  ) async throws -> Upload {
    let hold = try await media.hold([file.hash])
    defer { withExtendedLifetime(hold) {} }
    try await media.keep(file)
    return try await record(content, name, of: user, by: principal)
  }

  /// Removes the content of an upload that was refused when its file was in its place already, unless somebody has
  /// uploaded it too. Also when the request was cancelled meanwhile; what goes wrong here is left to the collection.
  private func forget(_ hash: ContentHash) async {
    await Task {
      _ = try? await media.remove(hash) {
        try await self.mediaRows { try $0.isKnown(hash.bytes) } == false
      }
    }.value
  }

  /// A repeat is known by its content alone, which is not there yet; its name is right or wrong all the same. The decision
  /// asks more of a name, but not of a repeat's.
  private func check(uploadName name: String) throws(ServiceError) {
    do throws(Rejection) {
      try TextRules.mediaNameForm(name)
    } catch {
      throw .rejected(error)
    }
  }

  private func record(
    _ content: Media, _ name: String?, of user: UserID, by principal: Principal
  ) async throws(ServiceError) -> Upload {
    let id = mediaID(of: content.hash, by: user)
    let outcome: ChatOutcome
    do {
      outcome = try await performUser(
        .media(.upload(id, content, name: name)), by: principal, command: CommandID(id.uuid))
    } catch .rejected(.idempotencyKeyReused) {
      // What the first upload said was erased, or the client has used this ID as a key of its own. Then there is no key
      // to know a repeat by, and each is recorded.
      outcome = try await performUser(.media(.upload(id, content, name: name)), by: principal)
    }
    if outcome.isNew {
      return Upload(
        row: MediaRow(id: id, uploader: user, content: content, name: name, uploaded: outcome.stamp), isNew: true)
    }
    guard let first = try await mediaRows({ try $0.media(id, for: user) }) else {
      throw .failed("the read model has no row for the file \(id), which was uploaded before")
    }
    return Upload(row: first, isNew: false)
  }

  /// Nobody can tell from it what the content is.
  package func mediaID(of hash: [UInt8], by user: UserID) -> MediaID {
    let code = keys.authenticationCode(for: "media-id", user.uuid.bytes + hash)
    return MediaID(UUIDBytes(bytes: code.prefix(UUIDBytes.byteCount)) ?? .zero)
  }
}
