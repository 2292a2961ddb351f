import ChatPrimitives
import ChatService
import HTTPTypes

extension MediaProblem {
  var status: HTTPResponse.Status {
    switch self {
    case .empty, .imageTooLarge, .imageUndecodable: .unprocessableContent
    case .tooManyUploads: .tooManyRequests
    case .thumbnailsUnavailable: .notImplemented
    case .storageFull: HTTPResponse.Status(code: 507, reasonPhrase: "Insufficient Storage")
    }
  }

  /// What was wrong, and what to do next.
  var detail: String {
    switch self {
    case .empty: "The body is empty. Send the file's bytes as the body."
    case .tooManyUploads:
      "You already have \(Limits.uploadsOfUser) uploads in progress. Send this again when one has ended."
    case .storageFull: "The server's disk is full. Try again later."
    case .imageTooLarge: "The image is too large for a thumbnail: the limit is \(Limits.imagePixels) pixels."
    case .imageUndecodable:
      """
      No thumbnail of this width can be made: the file is not JPEG, PNG, GIF, WebP, HEIC or AVIF, is damaged, or takes \
      too much to decode. Request a smaller width, or show a placeholder.
      """
    case .thumbnailsUnavailable:
      "This server makes no thumbnails: vipsthumbnail, vipsheader or prlimit is not installed (libvips-tools)."
    }
  }
}
