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
    case .tooManyUploads: "You have \(Limits.uploadsOfUser) uploads under way. Send this again when one has ended."
    case .storageFull: "The server's disk has no room for the file. Come again later."
    case .imageTooLarge: "Thumbnails are made of images with \(Limits.imagePixels) pixels at most."
    case .imageUndecodable:
      """
      No thumbnail of this width can be made: the file is not JPEG, PNG, GIF, WebP, HEIC or AVIF, is damaged, or takes \
      too much to decode. Ask for a smaller width, or show a placeholder.
      """
    case .thumbnailsUnavailable:
      "This server makes no thumbnails: vipsthumbnail, vipsheader or prlimit is not installed (libvips-tools)."
    }
  }
}
