/// The kind of a file in a message, as a notification shows it.
package enum AttachmentKind: String, Sendable, Hashable, CaseIterable {
  case image
  case video
  case audio
  /// Any other file.
  case file

  /// - Parameter contentType: a media type, such as `image/jpeg`.
  package init(contentType: String) {
    switch contentType.prefix(while: { $0 != "/" }).lowercased() {
    case "image": self = .image
    case "video": self = .video
    case "audio": self = .audio
    default: self = .file
    }
  }

  /// Shown for a message without a text.
  var symbol: String {
    switch self {
    case .image: "📷"
    case .video: "🎬"
    case .audio: "🎵"
    case .file: "📎"
    }
  }
}
