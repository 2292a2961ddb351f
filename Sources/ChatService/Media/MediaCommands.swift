package import ChatDomain
package import ChatPrimitives
package import ChatProjections
import EventStore
import MediaFiles
package import NIOCore

/// The result of an upload.
package struct Upload: Sendable, Hashable {
  package let row: MediaRow
  package let isNew: Bool
}

extension ChatService {
  /// Receives a file and records that the user has uploaded it. If the same user uploads the same content again, it is
  /// always the same file, with its first name.
  ///
  /// The file and its name are synced before the event is decided. A failure in between leaves a file that nothing
  /// refers to, and that is collected later. What would be refused anyway is refused before that, and an upload that is
  /// refused afterwards leaves no file.
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

  /// Refuses an upload before its body is read, if that is possible.
  /// - Parameter bytes: the size of the body; nil if it is not known.
  package func checkUpload(bytes: Int?, name: String?, by principal: Principal) async throws(ServiceError) {
    guard let user = principal.user else { throw .rejected(.userNotFound) }
    if let name { try check(uploadName: name) }
    try checkUploader(user, principal)
    guard let bytes else { return }
    let limit = media.settings.maximumBytes
    guard bytes <= limit else { throw .media(.tooLarge(limit: limit)) }
    let size = UInt64(clamping: bytes)
    guard try await !isWithinQuota(size, user, principal) else { return }
    // It may be the same file again, which is accepted even if the quota is used up.
    guard try await mediaRows({ try $0.hasUpload(by: user, size: size) }) else { throw .rejected(.quotaExceeded) }
  }

  /// Checks what the writer checks too, which is only after the file has been received.
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

  /// Whether the user may upload that many more bytes today. The writer checks again, because uploads may run at once.
  private func isWithinQuota(
    _ bytes: UInt64, _ user: UserID, _ principal: Principal
  ) async throws(ServiceError) -> Bool {
    guard quotas.mediaBytesPerDay != nil, principal.service == nil else { return true }
    let head = store.head
    let used = try await failing {
      try await self.readModels.usage.wait(for: head)
      return try await self.readModels.usage.read { try $0.lastDay(of: user) }
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

  /// Removes the file of an upload that was refused after the file had been stored, unless another user has uploaded it
  /// too. Runs even if the request was cancelled. After a failure, the file is collected later.
  private func forget(_ hash: ContentHash) async {
    await Task {
      _ = try? await media.remove(hash) {
        try await self.mediaRows { try $0.isKnown(hash.bytes) } == false
      }
    }.value
  }

  /// Checks the name before the content is known, so the upload may still be a retry. The decision has more rules for
  /// names, but not for retries.
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
      // The first upload was erased, or the client has used this ID as a key. Then no key can identify a retry, and
      // each upload is recorded.
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

  /// The ID does not reveal the content.
  package func mediaID(of hash: [UInt8], by user: UserID) -> MediaID {
    let code = keys.authenticationCode(for: "media-id", user.uuid.bytes + hash)
    return MediaID(UUIDBytes(bytes: code.prefix(UUIDBytes.byteCount)) ?? .zero)
  }
}
