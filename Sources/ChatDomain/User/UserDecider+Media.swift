import ChatPrimitives

extension UserDecider {
  /// The user's media are not kept in the state: a repeat is known by the command's key, which is the media's ID.
  static func uploadMedia(_ id: MediaID, _ media: Media, _ name: String?) throws(Rejection) -> Verdict<UserEvent> {
    if let name { try TextRules.mediaName(name) }
    return .record([.mediaUploaded(id, media, name: name)])
  }
}
