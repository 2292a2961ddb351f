/// The format of a thumbnail: JPEG for photographs, WebP for images that may be transparent.
package enum ThumbnailFormat: Sendable, Hashable, CaseIterable {
  case jpeg
  case webp

  /// The maximum ratio of a thumbnail's height to its width. A taller image becomes narrower than requested.
  static let heightPerWidth = 4
  private static let quality = 80

  /// - Parameter type: the content type of the image.
  init(of type: String) {
    switch type {
    case "image/jpeg", "image/heic", "image/heif": self = .jpeg
    default: self = .webp
    }
  }

  package var contentType: String {
    switch self {
    case .jpeg: "image/jpeg"
    case .webp: "image/webp"
    }
  }

  var fileExtension: String {
    switch self {
    case .jpeg: "jpg"
    case .webp: "webp"
    }
  }

  /// The output option of vipsthumbnail: the format on its standard output, without metadata.
  var output: String { ".\(fileExtension)[Q=\(Self.quality),strip]" }

  /// Removes metadata from the image; nil if it is not in this format. libvips 8.14 keeps the metadata of a WebP
  /// despite `strip`, including the location of a photograph.
  func cleaned(_ bytes: [UInt8]) -> [UInt8]? {
    switch self {
    case .jpeg: bytes.starts(with: [0xFF, 0xD8, 0xFF]) ? bytes : nil
    case .webp: WebPContainer.withoutMetadata(bytes)
    }
  }
}
