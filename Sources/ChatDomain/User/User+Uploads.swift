package import ChatPrimitives

extension UserEvent {
  package enum Uploads: Sendable, Equatable {
    /// - name: the file's name, if the upload gave one.
    case uploaded(MediaID, Media, name: String?)
  }
}

extension UserEvent.Uploads: EventFamily {
  package var fingerprint: Fingerprint? {
    switch self {
    case .uploaded(let id, let media, _): .mediaUpload(id, media)
    }
  }

  var textBytes: Int {
    switch self {
    case .uploaded(_, let media, let name): media.contentType.byteCount + name.byteCount
    }
  }
}

extension Fingerprint {
  /// Excludes the name: a retry may have another name, and the first one is kept.
  static func mediaUpload(_ id: MediaID, _ media: Media) -> Fingerprint {
    Fingerprint(.text("media.upload"), .id(id.uuid), .bytes(media.hash))
  }
}

// MARK: - Commands

extension UserCommand {
  package enum Uploads: Sendable, Equatable {
    /// The content is already on the disk. The command's key is the file's ID, by which a retry is always recognised.
    case upload(MediaID, Media, name: String?)
  }
}

extension UserCommand.Uploads: AggregateCommand {
  package typealias Entity = UserCommand.Entity

  package func fingerprint(by actor: UserID?) -> Fingerprint {
    switch self {
    case .upload(let id, let media, _): .mediaUpload(id, media)
    }
  }
}

// MARK: - Decide

extension UserDecider {
  func decide(_ command: UserCommand.Uploads) throws(Rejection) -> Decision<UserEvent> {
    switch command {
    case .upload(let id, let media, let name): try upload(id, media, name: name)
    }
  }

  /// The user's files are not part of the state, so a retry is recognised only by the command's key.
  private func upload(_ id: MediaID, _ media: Media, name: String?) throws(Rejection) -> Decision<UserEvent> {
    _ = try authorizedUser()
    if let done = try doneBefore() { return done }
    if let name { try TextRules.mediaName(name) }
    return .record([.media(.uploaded(id, media, name: name))])
  }
}
