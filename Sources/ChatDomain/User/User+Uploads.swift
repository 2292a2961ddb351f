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
  /// The content alone: a repeat may call it by another name, and the first one stays.
  static func mediaUpload(_ id: MediaID, _ media: Media) -> Fingerprint {
    Fingerprint(.text("media.upload"), .id(id.uuid), .bytes(media.hash))
  }
}

// MARK: - Decide

extension UserDecider {
  /// The user's media are not kept in the state: a repeat is known by the command's key, which is the media's ID.
  static func uploadMedia(_ id: MediaID, _ media: Media, _ name: String?) throws(Rejection) -> Decision<UserEvent> {
    if let name { try TextRules.mediaName(name) }
    return .record([.media(.uploaded(id, media, name: name))])
  }
}
